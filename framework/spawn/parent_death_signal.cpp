#include "framework/spawn/parent_death_signal.hpp"

#include "base/error.hpp"
#include "base/launch.hpp"
#include "framework/process/process_context.hpp"

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

/// Returns a number that identifies the pipe; 0 if the file is not a pipe.
ino_t pipe_number(int file) {
  struct stat what {};
  return ::fstat(file, &what) == 0 && S_ISFIFO(what.st_mode) ? what.st_ino : 0;
}

/// Opens the reading end of the pipe of that name. Returns -1 if this process cannot open it; then only the connection
/// shows the host's death.
int open_parent_pipe(const std::string& name) {
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

}  // namespace

int take_parent_death_signal() {
  const char* const name = std::getenv(launch::parent_death_variable);
  if (name == nullptr) return -1;
  const int parent_pipe = open_parent_pipe(name);
  ::unsetenv(launch::parent_death_variable);  // the variable is for this process only, not for processes that it starts
  if (parent_pipe < 0) return -1;
  ::fcntl(parent_pipe, F_SETSIG, SIGKILL);
  ::fcntl(parent_pipe, F_SETOWN, ::getpid());
  ::fcntl(parent_pipe, F_SETFL, O_NONBLOCK | O_ASYNC);
  char nothing = 0;
  const bool has_been_let_go = ::read(parent_pipe, &nothing, 1) == 0;  // the host has let it go or died before the
                                                                       // signal was set up
  if (has_been_let_go) std::raise(SIGKILL);
  return parent_pipe;
}

ParentDeathSignal::ParentDeathSignal() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw EnvironmentError(fmt::format("a pipe cannot be opened: {}", std::strerror(errno)));
  end_ = ends[1];
  ::close(ends[0]);
}

ParentDeathSignal::~ParentDeathSignal() { ::close(end_); }

std::string ParentDeathSignal::name() const { return fmt::format("{} {} {}", ::getpid(), end_, pipe_number(end_)); }

void disarm_parent_death_signal() {
  const int parent_pipe = std::exchange(process_context().parent_death_pipe, -1);
  if (parent_pipe < 0) return;
  ::fcntl(parent_pipe, F_SETFL, O_NONBLOCK);  // a child of this process may have it open too
  ::close(parent_pipe);
}

}  // namespace mend
