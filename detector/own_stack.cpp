#include "detector/own_stack.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>

namespace mend::detector {
namespace {

constexpr int not_found = 127;  // timeout's word for a command that is not there
constexpr const char* no_debugger = "  (no stack: there is no gdb; install it to see where ranks wait)\n";

/// The debugger with its output in `output`; none if it cannot be started. It must not inherit what this thread does
/// with signals.
pid_t start_debugger(int output) {
  const std::string self = std::to_string(::getpid());
  const std::string no_downloads = fmt::format("set debuginfod enabled {}", "off");
  std::array<const char*, 14> words{
      "timeout", "-k",         "1",   "25",    "gdb",  "-nx", "-batch", "-iex", no_downloads.c_str(),
      "-p",      self.c_str(), "-ex", "bt 40", nullptr};
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t started = -1;
  const int error =
      ::posix_spawnp(&started, words[0], &files, &attributes, const_cast<char* const*>(words.data()), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  return error == 0 ? started : -1;
}

std::string content_of(int file) {
  std::string text;
  std::array<char, 4096> buffer;
  ::lseek(file, 0, SEEK_SET);
  for (;;) {
    const auto count = ::read(file, buffer.data(), buffer.size());
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

OwnStack::~OwnStack() {
  if (output_ >= 0) ::close(output_);
}

void OwnStack::take() {
  output_ = ::memfd_create("mend-stack", MFD_CLOEXEC);
  if (output_ < 0) return;
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // refused where everybody may look anyway
  debugger_ = start_debugger(output_);
  if (debugger_ < 0) exit_code_ = not_found;
}

bool OwnStack::is_there() {
  if (debugger_ < 0) return true;
  int status = 0;
  const pid_t ended = ::waitpid(debugger_, &status, WNOHANG);
  if (ended == 0) return false;
  exit_code_ = ended == debugger_ && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  debugger_ = -1;
  return true;
}

std::string OwnStack::text() const {
  if (output_ < 0 || exit_code_ == not_found) return no_debugger;
  std::string frames;
  std::string last_line = "it said nothing";
  std::istringstream lines(content_of(output_));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) frames += "  " + line + "\n";
    if (!line.empty()) last_line = line;
  }
  return frames.empty() ? "  (no stack: gdb cannot look at this process: " + last_line + ")\n" : frames;
}

}  // namespace mend::detector
