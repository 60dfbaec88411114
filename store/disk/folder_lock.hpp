// A folder of checkpoints belongs to one job at a time: another would take its unfinished versions for leftovers.
//
// The first process of a job claims the folder before any of them goes on, then each holds it as long as it lives. The
// kernel drops the locks of those who die, so nothing is left behind by a job that was killed.

#pragma once

#include <filesystem>

namespace mend {

class FolderLock {
 public:
  enum class As {
    first,   ///< claims it for the job: throws UsageError, with a sentence, when another has it
    member,  ///< holds what the first has claimed
  };
  /// Local. Where the file system knows no locks, nothing is held and nobody is refused.
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
