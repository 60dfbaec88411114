#include "store/snapshot/unseen_writers.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <system_error>

namespace mend {
namespace {

bool has_asynchronous_input() {
  long requests = 0;  // of all processes of the machine
  if (std::ifstream file("/proc/sys/fs/aio-nr"); !(file >> requests) || requests == 0) return false;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/[aio]") != std::string::npos) return true;
  }
  return false;
}

}  // namespace

bool may_write_unseen(std::string_view open_file) {
  constexpr std::array<std::string_view, 11> harmless{"/dev/null",    "/dev/zero", "/dev/full",       "/dev/random",
                                                      "/dev/urandom", "/dev/tty",  "/dev/console",    "/dev/ptmx",
                                                      "/dev/log",     "/dev/kmsg", "/dev/userfaultfd"};
  constexpr std::array<std::string_view, 4> harmless_folders{"/dev/pts/", "/dev/shm/", "/dev/mqueue/",
                                                             "/dev/hugepages/"};
  constexpr std::array<std::string_view, 4> writers{"/dmabuf:", "anon_inode:[io_uring]", "anon_inode:[vfio",
                                                    "anon_inode:kvm"};
  const auto begins_with = [&](std::string_view text) { return open_file.starts_with(text); };
  if (begins_with("/dev/"))
    return std::ranges::find(harmless, open_file) == harmless.end() &&
           std::ranges::none_of(harmless_folders, begins_with);
  return std::ranges::any_of(writers, begins_with);
}

bool has_unseen_writers(const std::filesystem::path& links) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(links, error), end; !error && at != end; at.increment(error)) {
    std::error_code closed;  // another thread may close the file meanwhile
    const auto open_file = std::filesystem::read_symlink(at->path(), closed);
    if (!closed && may_write_unseen(open_file.native())) return true;
  }
  return static_cast<bool>(error);  // without a list nothing is known
}

bool has_unseen_writers() { return has_unseen_writers("/proc/self/fd") || has_asynchronous_input(); }

}  // namespace mend
