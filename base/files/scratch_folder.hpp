// A private folder for files that are needed for a while.

#pragma once

#include "base/error.hpp"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

namespace mend {

/// Makes the folder, and removes it with its content in the destructor. Throws EnvironmentError if it cannot be made.
class ScratchFolder {
 public:
  /// `owner` begins the folder's name.
  explicit ScratchFolder(const std::string& owner) {
    std::error_code error;
    auto where = std::filesystem::temp_directory_path(error);
    if (error) where = "/tmp";
    std::string name = (where / (owner + "-XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr)
      throw EnvironmentError("cannot make a temporary folder " + name + ": " + std::strerror(errno));
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace mend
