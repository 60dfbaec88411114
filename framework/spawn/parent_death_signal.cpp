#include "framework/spawn/parent_death_signal.hpp"

#include "base/error.hpp"
#include "base/launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

namespace mend {
namespace {

std::string path_of(pid_t process, int file) { return fmt::format("/proc/{}/fd/{}", process, file); }

/// What tells a pipe from any other that is open; 0 for what is none.
ino_t pipe_number(int file) {
  struct stat what {};
  return ::fstat(file, &what) == 0 && S_ISFIFO(what.st_mode) ? what.st_ino : 0;
}

/// The reading end of the pipe of that name; -1 when this process cannot open it: then its line alone tells of the host.
int open_leash(const std::string& name) {
  std::istringstream words(name);
  pid_t host = 0;
  int file = -1;
  ino_t pipe = 0;
  if (!(words >> host >> file >> pipe)) return -1;
  const int opened = ::open(path_of(host, file).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (opened >= 0 && pipe_number(opened) == pipe) return opened;
  if (opened >= 0) ::close(opened);
  return -1;
}

int take_leash() {
  const char* const name = std::getenv(launch::leash_variable);
  if (name == nullptr) return -1;
  const int leash = open_leash(name);
  ::unsetenv(launch::leash_variable);  // it is for this process, and not for those that it starts
  if (leash < 0) return -1;
  ::fcntl(leash, F_SETSIG, SIGKILL);
  ::fcntl(leash, F_SETOWN, ::getpid());
  ::fcntl(leash, F_SETFL, O_NONBLOCK | O_ASYNC);
  char nothing = 0;
  const bool has_been_let_go = ::read(leash, &nothing, 1) == 0;  // before there was a signal for that
  if (has_been_let_go) std::raise(SIGKILL);
  return leash;
}

/// Taken before MPI is initialised and before main: this process may be stopped in these too.
int leash_of_self = take_leash();

}  // namespace

Leash::Leash() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw EnvironmentError(fmt::format("a pipe cannot be opened: {}", std::strerror(errno)));
  end_ = ends[1];
  ::close(ends[0]);
}

Leash::~Leash() { ::close(end_); }

std::string Leash::name() const { return fmt::format("{} {} {}", ::getpid(), end_, pipe_number(end_)); }

void slip_the_leash() {
  const int leash = std::exchange(leash_of_self, -1);
  if (leash < 0) return;
  ::fcntl(leash, F_SETFL, O_NONBLOCK);  // a child of this process may have it open too
  ::close(leash);
}

}  // namespace mend
