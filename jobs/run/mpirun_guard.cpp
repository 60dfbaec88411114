#include "jobs/run/mpirun_guard.hpp"

#include "jobs/watch/process_table.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

namespace mend::jobs {
namespace {

int open_process(pid_t process) { return static_cast<int>(::syscall(SYS_pidfd_open, process, 0)); }

/// The pipes of this process must end with it, and not with its guard.
void close_all_but(int first, int second) {
  const unsigned low = static_cast<unsigned>(std::min(first, second));
  const unsigned high = static_cast<unsigned>(std::max(first, second));
  if (low > 0) ::close_range(0, low - 1, 0);
  if (high - low > 1) ::close_range(low + 1, high - 1, 0);
  ::close_range(high + 1, ~0U, 0);
}

/// Some of the program's processes may not end when mpirun does.
void kill_descendants_of(pid_t process) {
  for (const pid_t child : children_of(process)) {
    kill_descendants_of(child);
    ::kill(child, SIGKILL);
  }
}

[[noreturn]] void stand_guard(int launcher, int mpirun, pid_t number, std::chrono::milliseconds limit) {
  ::setsid();  // signals of the terminal are for the job
  // It has another name, so that a command that kills all processes named mend does not kill it.
  ::prctl(PR_SET_NAME, "mpirun-guard");
  close_all_but(launcher, mpirun);
  const auto ended = [](const pollfd& process) { return process.revents != 0; };
  std::array<pollfd, 2> both{{{launcher, POLLIN, 0}, {mpirun, POLLIN, 0}}};
  while (std::ranges::none_of(both, ended)) ::poll(both.data(), both.size(), -1);
  pollfd left{mpirun, POLLIN, 0};
  if (::poll(&left, 1, static_cast<int>(limit.count())) == 0) {
    kill_descendants_of(number);
    ::syscall(SYS_pidfd_send_signal, mpirun, SIGKILL, nullptr, 0);
  }
  ::_exit(0);
}

}  // namespace

pid_t guard(pid_t mpirun, std::chrono::milliseconds limit) {
  const int launcher = open_process(::getpid());
  const int guarded = open_process(mpirun);
  const pid_t child = launcher < 0 || guarded < 0 ? -1 : ::fork();
  if (child == 0) stand_guard(launcher, guarded, mpirun, limit);
  if (launcher >= 0) ::close(launcher);
  if (guarded >= 0) ::close(guarded);
  return child;
}

}  // namespace mend::jobs
