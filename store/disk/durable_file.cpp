#include "store/disk/durable_file.hpp"

#include "base/error.hpp"
#include "store/snapshot/hash.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace mend {
namespace {

constexpr ByteCount hashed_at_once = ByteCount{4} << 20;

[[noreturn]] void fail_at(const std::filesystem::path& path) {
  throw EnvironmentError(path.string() + ": " + std::generic_category().message(errno));
}

bool is_regular(int handle) {
  struct stat status {};
  return ::fstat(handle, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

OpenFile::OpenFile(std::filesystem::path path, For what) : path_(std::move(path)) {
  const int flags = what == For::reading   ? O_RDONLY | O_NONBLOCK
                    : what == For::writing ? O_RDWR
                                           : O_RDWR | O_CREAT | O_TRUNC;
  handle_ = ::open(path_.c_str(), flags | O_CLOEXEC, 0666);
  if (handle_ < 0) fail();
  if (what == For::reading && !is_regular(handle_)) {
    ::close(handle_);
    throw EnvironmentError(path_.string() + " is not a regular file");
  }
}

OpenFile::OpenFile(std::filesystem::path name, int handle) : path_(std::move(name)), handle_(handle) {
  if (handle_ < 0) fail();
}

OpenFile::~OpenFile() { ::close(handle_); }

void OpenFile::fail() const { fail_at(path_); }

ByteCount OpenFile::size() const {
  struct stat status {};
  if (::fstat(handle_, &status) != 0) fail();
  return static_cast<ByteCount>(status.st_size);
}

void OpenFile::write(std::span<const std::byte> bytes, ByteCount at) const {
  while (!bytes.empty()) {
    const auto written = ::pwrite(handle_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail();
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    at += static_cast<ByteCount>(written);
  }
}

ByteCount OpenFile::read(std::span<std::byte> bytes, ByteCount at) const {
  ByteCount done = 0;
  while (done < bytes.size()) {
    const auto got = ::pread(handle_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail();
    if (got == 0) break;
    done += static_cast<ByteCount>(got);
  }
  return done;
}

void OpenFile::resize(ByteCount size) const {
  if (::ftruncate(handle_, static_cast<off_t>(size)) != 0) fail();
}

void OpenFile::sync() const {
  if (::fsync(handle_) != 0) fail();
}

std::filesystem::path unfinished(const std::filesystem::path& path) { return path.string() + ".unfinished"; }

void finish_file(const std::filesystem::path& path) {
  if (std::rename(unfinished(path).c_str(), path.c_str()) != 0) fail_at(path);
  sync_folder(path.parent_path());
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  {
    const OpenFile file(unfinished(path), OpenFile::For::creating);
    file.write(std::as_bytes(std::span(text)), 0);
    file.sync();
  }
  finish_file(path);
}

std::string read_file(const std::filesystem::path& path) {
  const OpenFile file(path, OpenFile::For::reading);
  std::string text(file.size(), '\0');
  text.resize(file.read(std::as_writable_bytes(std::span(text)), 0));
  return text;
}

void sync_folder(const std::filesystem::path& folder) {
  const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) fail_at(folder);
  const int outcome = ::fsync(handle);
  const int error = errno;
  ::close(handle);
  // Some file systems sync folders by themselves and reject the call with EINVAL.
  if (outcome != 0 && error != EINVAL) {
    errno = error;
    fail_at(folder);
  }
}

std::uint64_t hash_of_file(const OpenFile& file, ByteCount from) {
  std::vector<std::byte> part(hashed_at_once);
  std::vector<std::uint64_t> hashes;
  for (;;) {
    const ByteCount got = file.read(part, from);
    if (got > 0) hashes.push_back(hash_of(std::span(part).first(got)));
    if (got < part.size()) break;
    from += got;
  }
  return hash_of(std::as_bytes(std::span(hashes)));
}

}  // namespace mend
