#include "store/disk/folder_lock.hpp"

#include "base/error.hpp"
#include "base/launch.hpp"
#include "store/disk/durable_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace mend {
namespace {

/// Sets the lock of this open file without waiting. Returns false if another process holds a conflicting lock.
bool lock(int handle, short kind) {
  struct flock whole {};
  whole.l_type = kind;
  whole.l_whence = SEEK_SET;
  return ::fcntl(handle, F_OFD_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES);
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder, As who)
    : file_(folder / ".lock"), handle_(::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (who == As::first) claim(folder);
  lock(handle_, F_RDLCK);
}

FolderLock::~FolderLock() {
  if (handle_ >= 0) ::close(handle_);
}

void FolderLock::claim(const std::filesystem::path& folder) const {
  const auto refuse = [&](const std::string& why) {
    return UsageError(fmt::format("the folder {} for checkpoints on disk cannot be used: {}", folder.string(), why));
  };
  try {
    const OpenFile file(file_, OpenFile::For::writing);
    if (lock(handle_, F_WRLCK)) {
      const std::string name = fmt::format("process {} on {}", ::getpid(), launch::machine());
      file.resize(0);
      file.write(std::as_bytes(std::span(name)), 0);
      return;
    }
    std::string holder(file.size(), '\0');
    file.read(std::as_writable_bytes(std::span(holder)), 0);
    throw refuse(
        fmt::format("another job is using it, whose first process was {}: give each job a folder of its own", holder));
  } catch (const EnvironmentError& error) {
    throw refuse(error.what());
  }
}

}  // namespace mend
