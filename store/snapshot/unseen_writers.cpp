#include "store/snapshot/unseen_writers.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>

namespace mend {
namespace {

/// Returns an upper bound of the numbers of open files; nothing if it cannot be read.
std::optional<int> size_of_file_table() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    int size = 0;
    if (std::sscanf(line.c_str(), "FDSize: %d", &size) == 1) return size;
  }
  return std::nullopt;
}

/// Most open files of a large job are connections, which write through the kernel.
bool is_connection(const struct stat& file) { return S_ISSOCK(file.st_mode) || S_ISFIFO(file.st_mode); }

bool may_write_unseen(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0 || is_connection(status)) return false;
  std::array<char, 256> name{};
  const auto length = ::readlink(fmt::format("/proc/self/fd/{}", file).c_str(), name.data(), name.size());
  // Another thread may have closed it meanwhile.
  return length > 0 && mend::may_write_unseen(std::string_view(name.data(), static_cast<std::size_t>(length)));
}

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

bool has_unseen_writers() {
  const auto size = size_of_file_table();
  if (!size) return true;  // nothing is known
  for (int file = 0; file < *size; ++file) {
    if (may_write_unseen(file)) return true;
  }
  return has_asynchronous_input();
}

}  // namespace mend
