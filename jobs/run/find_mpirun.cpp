#include "jobs/run/find_mpirun.hpp"

#include "base/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

namespace mend::jobs {
namespace {

constexpr int oldest_open_mpi = 5;

/// The first line of the output of `file --version`; empty if there is none within some seconds.
std::string version_text(const std::filesystem::path& file) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds(10);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return "";
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::execl(file.c_str(), file.c_str(), "--version", static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 256> buffer;
  while (child > 0 && text.find('\n') == std::string::npos && text.size() < 4096) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd readable{.fd = ends[0], .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || ::poll(&readable, 1, static_cast<int>(left.count())) <= 0) break;
    const auto count = ::read(ends[0], buffer.data(), buffer.size());
    if (count <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  if (child > 0) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  return text.substr(0, text.find('\n'));
}

bool is_usable(std::string_view version) {
  constexpr std::string_view mark = "(Open MPI) ";
  const auto at = version.find(mark);
  if (at == std::string_view::npos) return false;
  int release = 0;
  const char* const begin = version.data() + at + mark.size();
  std::from_chars(begin, version.data() + version.size(), release);
  return release >= oldest_open_mpi;
}

std::filesystem::path named_by_user(const char* name) {
  if (!runnable(name)) throw UsageError(fmt::format("MEND_MPIRUN is '{}', which cannot be run", name));
  if (const std::string version = version_text(name); !is_usable(version)) {
    throw UsageError(fmt::format(
        "MEND_MPIRUN is '{}', which is not the mpirun of Open MPI {} or later: {}", name, oldest_open_mpi,
        version.empty() ? "it does not report its version" : fmt::format("for --version it prints '{}'", version)));
  }
  return name;
}

}  // namespace

bool runnable(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0;
}

void have_home() {
  const passwd* const user = ::getpwuid(::geteuid());
  ::setenv("HOME", user != nullptr && user->pw_dir != nullptr ? user->pw_dir : "/", 0);
}

std::filesystem::path find_mpirun() {
  if (const char* named = std::getenv("MEND_MPIRUN"); named != nullptr && *named != '\0') return named_by_user(named);
  if (runnable(MEND_MPIRUN_BUILT_WITH)) return MEND_MPIRUN_BUILT_WITH;
  if (const char* path = std::getenv("PATH"); path != nullptr) {
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      if (const auto file = std::filesystem::path(folder) / "mpirun"; runnable(file)) return file;
    }
  }
  throw EnvironmentError("no mpirun found; name one with MEND_MPIRUN or put it on PATH");
}

}  // namespace mend::jobs
