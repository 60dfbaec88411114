#include "jobs/child.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace mend::jobs {
namespace {

constexpr std::array passed_on{SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
constexpr auto patience = std::chrono::seconds(10);
constexpr timespec tick{.tv_sec = 0, .tv_nsec = 500'000'000};

bool asks_to_end(int signal) { return signal == SIGINT || signal == SIGTERM || signal == SIGHUP; }

/// Signals are waited for, not handled: they are blocked from before the child exists, so none is lost.
sigset_t block_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : passed_on) sigaddset(&set, signal);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return set;
}

[[noreturn]] void become(const std::vector<std::string>& line, const Environment& additions, const sigset_t& blocked,
                         pid_t parent) {
  sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
  // SIGTERM has mpirun end its whole job; a SIGKILL would orphan the processes.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) raise(SIGTERM);  // the parent died before prctl
  for (const auto& [name, value] : additions) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const auto& word : line) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  std::fprintf(stderr, "mend: cannot run %s: %s\n", arguments[0], std::strerror(errno));
  _exit(127);
}

std::vector<pid_t> children() {
  std::vector<pid_t> pids;
  std::ifstream list(fmt::format("/proc/self/task/{}/children", getpid()));
  for (pid_t pid = 0; list >> pid;) pids.push_back(pid);
  return pids;
}

/// Being a subreaper, this process inherits whatever mpirun leaves behind; each one killed may leave its own.
void kill_leftovers() {
  for (auto left = children(); !left.empty(); left = children()) {
    for (const pid_t pid : left) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
}

}  // namespace

ChildEnd run_child(const std::vector<std::string>& line, const Environment& additions,
                   const std::function<bool()>& still_wanted) {
  const sigset_t waited_for = block_signals();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child < 0) throw EnvironmentError(fmt::format("cannot start {}: {}", line.front(), std::strerror(errno)));
  if (child == 0) become(line, additions, waited_for, self);

  ChildEnd end;
  std::optional<Clock::time_point> give_up_at;
  const auto tell_to_end = [&](int signal) {
    if (!give_up_at) give_up_at = Clock::now() + patience;
    kill(child, signal);
  };
  for (;;) {
    siginfo_t info{};
    const int signal = sigtimedwait(&waited_for, &info, &tick);
    if (signal == SIGCHLD) {
      int status = 0;
      if (waitpid(child, &status, WNOHANG) == child) {
        if (WIFSIGNALED(status)) {
          end.ended_by = WTERMSIG(status);
        } else {
          end.exit_code = WEXITSTATUS(status);
        }
        kill_leftovers();
        return end;
      }
    } else if (signal > 0) {
      if (asks_to_end(signal)) end.asked_to_end = signal;
      // The kernel sends what is typed at a terminal to the whole foreground group, mpirun included; mpirun takes a
      // second Ctrl-C for impatience.
      const bool already_there = info.si_code == SI_KERNEL;
      if (asks_to_end(signal)) {
        if (!give_up_at) give_up_at = Clock::now() + patience;
      }
      if (!already_there) kill(child, signal);
    } else if (!end.gave_up && !end.asked_to_end && !still_wanted()) {
      end.gave_up = true;
      tell_to_end(SIGTERM);
    }
    if (give_up_at && Clock::now() > *give_up_at) kill(child, SIGKILL);
  }
}

}  // namespace mend::jobs
