// A private folder for the time of a check.

#pragma once

#include "base/error.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

namespace mend::jobs {

/// Gone, with all that is in it, when this is. Throws EnvironmentError when it cannot be made.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    auto where = std::filesystem::temp_directory_path(error);
    if (error) where = "/tmp";
    std::string name = (where / "mend-doctor-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw EnvironmentError(fmt::format("cannot make a temporary folder {}: {}", name, std::strerror(errno)));
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

}  // namespace mend::jobs
