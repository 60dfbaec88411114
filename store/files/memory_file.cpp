#include "store/files/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

namespace mend {
namespace {

int new_memory() { return ::memfd_create("mend", MFD_CLOEXEC); }

bool is_open_for_writing(int handle, const struct stat& wanted) {
  struct stat status {};
  if (::fstat(handle, &status) != 0 || status.st_ino != wanted.st_ino || status.st_dev != wanted.st_dev) return false;
  const int flags = ::fcntl(handle, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

}  // namespace

FileMapping::~FileMapping() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

MemoryFile::MemoryFile() : OpenFile("a file in memory", new_memory()) {}

std::filesystem::path MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(handle()); }

void MemoryFile::copy_to(const std::filesystem::path& path) const {
  const OpenFile copy(path, OpenFile::For::creating);
  copy.resize(size());
  std::vector<std::byte> part;
  for (off_t end = 0;;) {
    const off_t begin = ::lseek(handle(), end, SEEK_DATA);
    if (begin < 0) break;
    end = ::lseek(handle(), begin, SEEK_HOLE);
    part.resize(static_cast<ByteCount>(end - begin));
    copy.write(std::span(part).first(read(part, static_cast<ByteCount>(begin))), static_cast<ByteCount>(begin));
  }
}

FileMapping MemoryFile::map(int protection) const {
  const ByteCount bytes = size();
  if (bytes == 0) return {};
  void* const begin = ::mmap(nullptr, bytes, protection, MAP_SHARED, handle(), 0);
  if (begin == MAP_FAILED) fail();
  return FileMapping({static_cast<std::byte*>(begin), bytes});
}

FileMapping MemoryFile::content() const { return map(PROT_READ); }

void MemoryFile::begin_anew() {
  const OpenFile fresh("a file in memory", new_memory());
  if (::dup3(fresh.handle(), handle(), O_CLOEXEC) < 0) fail();
}

FileMapping MemoryFile::place_for(ByteCount bytes) {
  resize(0);
  resize(bytes);
  // If memory ran out later, a write to the mapping would raise a signal instead of returning an error. In pieces: a
  // signal may interrupt the call, which then begins again.
  constexpr ByteCount piece = ByteCount{16} << 20U;
  for (ByteCount at = 0; at < bytes;) {
    const ByteCount length = std::min(piece, bytes - at);
    if (::fallocate(handle(), 0, static_cast<off_t>(at), static_cast<off_t>(length)) == 0) {
      at += length;
    } else if (errno != EINTR) {
      fail();
    }
  }
  return map(PROT_READ | PROT_WRITE);
}

bool MemoryFile::is_being_written() const {
  struct stat own {};
  if (::fstat(handle(), &own) != 0) fail();
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int other = std::atoi(entry.path().filename().c_str());
    if (other != handle() && is_open_for_writing(other, own)) return true;
  }
  return false;
}

}  // namespace mend
