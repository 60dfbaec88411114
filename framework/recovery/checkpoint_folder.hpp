// The folder in which a job keeps versions: this process holds its lock as long as it lives.

#pragma once

#include "store/disk/version_folder.hpp"
#include "store/disk/folder_lock.hpp"

#include <optional>
#include <string>
#include <utility>

namespace mend {

class CheckpointFolder {
 public:
  /// `options`: none when there is no folder.
  explicit CheckpointFolder(std::optional<DiskOptions> options) : options_(std::move(options)) {}

  bool exists() const { return options_.has_value(); }
  const std::optional<DiskOptions>& options() const { return options_; }
  /// Holds the folder together with the others. Local.
  void hold() {
    if (options_) lock_.emplace(options_->folder, FolderLock::As::member);
  }
  /// Where a new job could go on, if this one cannot: "; version 7 is on disk: start again with ..."; empty if nowhere.
  std::string advice() const;

 private:
  std::optional<DiskOptions> options_;
  std::optional<FolderLock> lock_;
};

}  // namespace mend
