// The folder in which a job keeps versions on disk. This process holds its lock during the lifetime of the object.

#pragma once

#include "store/disk/version_folder.hpp"
#include "store/disk/folder_lock.hpp"

#include <optional>
#include <string>
#include <utility>

namespace mend {

class CheckpointFolder {
 public:
  /// `options`: none if there is no folder.
  explicit CheckpointFolder(std::optional<DiskOptions> options) : options_(std::move(options)) {}

  bool exists() const { return options_.has_value(); }
  const std::optional<DiskOptions>& options() const { return options_; }
  /// Takes the lock, which all processes of the job hold together. Local.
  void hold() {
    if (options_) lock_.emplace(options_->folder, FolderLock::As::member);
  }
  /// Advice on where a new job can continue: "; version 7 is on disk: start again with ..."; empty if there is no
  /// version.
  std::string advice() const;

 private:
  std::optional<DiskOptions> options_;
  std::optional<FolderLock> lock_;
};

}  // namespace mend
