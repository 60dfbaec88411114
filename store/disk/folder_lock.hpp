// A folder of checkpoints belongs to one job at a time. Without a lock, another job would remove its unfinished
// versions.
// The first process of a job claims the folder before the others go on. Then each process holds a lock on it for as
// long as it lives. The kernel releases the locks of dead processes, so a job that was killed leaves no lock behind.

#pragma once

#include <filesystem>

namespace mend {

class FolderLock {
 public:
  enum class As {
    first,   ///< claims the folder for the job; throws UsageError if another job has it
    member,  ///< holds the folder that the first process has claimed
  };
  /// Local. If the file system has no locks, no lock is held and no job is refused.
  FolderLock(const std::filesystem::path& folder, As who);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  void claim(const std::filesystem::path& folder) const;

  std::filesystem::path file_;
  int handle_;
};

}  // namespace mend
