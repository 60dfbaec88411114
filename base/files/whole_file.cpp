#include "base/files/whole_file.hpp"

#include "base/error.hpp"
#include "base/signals_blocked.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <fstream>
#include <system_error>

namespace mend {
namespace {

namespace fs = std::filesystem;

constexpr int patience_ms = 10'000;

[[noreturn]] void fail(int error) { throw EnvironmentError(std::generic_category().message(error)); }

/// Returns true for links of /proc, which lead to the file that a process has open, independently of its name.
bool leads_to_open_file(const fs::path& link) {
  std::error_code error;
  const fs::path folder = fs::canonical(link.parent_path(), error);
  return !error && folder != "/" && *std::next(folder.begin()) == "proc";
}

Destination destination_of_kind(const fs::path& path, mode_t mode) {
  using Kind = Destination::Kind;
  if (S_ISREG(mode)) return {Kind::file, path, ""};
  if (S_ISCHR(mode) || S_ISFIFO(mode)) return {Kind::stream, path, ""};
  if (S_ISDIR(mode)) return {Kind::unusable, path, "is a folder"};
  return {Kind::unusable, path, S_ISBLK(mode) ? "is a block device" : "is a socket"};
}

class Stream {
 public:
  explicit Stream(const fs::path& path)
      : descriptor_(::open(path.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
    if (descriptor_ < 0 && errno == ENXIO) throw EnvironmentError("nobody reads it");
    if (descriptor_ < 0) fail(errno);
  }
  ~Stream() { ::close(descriptor_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written >= 0) {
        text.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno == EAGAIN) {
        wait();
      } else if (errno != EINTR) {
        fail(errno);
      }
    }
  }

 private:
  void wait() const {
    pollfd ready{descriptor_, POLLOUT, 0};
    if (::poll(&ready, 1, patience_ms) == 0) throw EnvironmentError("nobody reads it");
  }

  int descriptor_;
};

/// If the reader closes the stream, that is an error, and does not end this process.
void write_stream(const fs::path& path, std::string_view text) {
  const SignalsBlocked blocked;
  try {
    Stream(path).write(text);
  } catch (const EnvironmentError&) {
    sigset_t broken_pipe;
    ::sigemptyset(&broken_pipe);
    ::sigaddset(&broken_pipe, SIGPIPE);
    const timespec now{};
    ::sigtimedwait(&broken_pipe, nullptr, &now);
    throw;
  }
}

void write_file(const fs::path& file, std::string_view text) {
  // The name contains the process number, so that a rank's successor does not share a half-written file with the dead
  // process.
  fs::path temporary = file;
  temporary += fmt::format(".{}.tmp", ::getpid());
  errno = 0;
  std::ofstream out(temporary, std::ios::binary);
  out << text;
  out.close();
  std::error_code error(errno, std::generic_category());
  if (out) fs::rename(temporary, file, error);
  if (out && !error) return;
  std::error_code ignored;
  fs::remove(temporary, ignored);
  throw EnvironmentError(error.message());
}

}  // namespace

Destination destination_of(const fs::path& name) {
  constexpr int most_links = 40;  // the number that the kernel follows
  fs::path path = fs::absolute(name);
  for (int links = 0; links < most_links; ++links) {
    struct stat what {};
    if (::lstat(path.c_str(), &what) != 0) return {Destination::Kind::file, path, ""};
    if (!S_ISLNK(what.st_mode)) return destination_of_kind(path, what.st_mode);
    if (leads_to_open_file(path)) return {Destination::Kind::stream, name, ""};
    std::error_code error;
    path = path.parent_path() / fs::read_symlink(path, error);
    if (error) break;
  }
  return {Destination::Kind::unusable, name, "is a symbolic link that leads nowhere"};
}

void write_whole(const fs::path& name, std::string_view text) {
  const Destination destination = destination_of(name);
  switch (destination.kind) {
    case Destination::Kind::file: return write_file(destination.path, text);
    case Destination::Kind::stream: return write_stream(destination.path, text);
    case Destination::Kind::unusable: throw EnvironmentError("it " + destination.obstacle);
  }
}

}  // namespace mend
