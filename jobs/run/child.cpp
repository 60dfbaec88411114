#include "jobs/run/child.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "jobs/pipe.hpp"
#include "jobs/run/mpirun_guard.hpp"
#include "jobs/run/output_filter.hpp"
#include "jobs/say.hpp"
#include "jobs/watch/process_table.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace mend::jobs {
namespace {

constexpr std::array passed_on{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
constexpr auto patience = std::chrono::seconds(10);
/// The time that a line waits for its end if it may be noise.
constexpr std::chrono::duration<int, std::milli> hold_back{200};
constexpr timespec tick{.tv_sec = 0, .tv_nsec = 100'000'000};

bool asks_to_end(int signal) { return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT; }

/// The signal that mpirun gets for `signal`. mpirun does not end a job on SIGQUIT.
int for_mpirun(int signal) { return signal == SIGQUIT ? SIGTERM : signal; }

/// Returns true if the parent has made this process ignore SIGHUP, as nohup does.
bool outlives_its_terminal() {
  struct sigaction now {};
  return sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

/// Blocks the signals, before the child exists so that none is lost. They are waited for instead of handled.
sigset_t block_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : passed_on)
    if (signal != SIGHUP || !outlives_its_terminal()) sigaddset(&set, signal);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return set;
}

/// Shows the child's standard error without the noise, until the child and all processes that it started have closed
/// it, or until the parent stops reading.
class ErrorStream {
 public:
  ErrorStream() = default;
  ~ErrorStream() { read_to_the_end(); }
  ErrorStream(const ErrorStream&) = delete;
  ErrorStream& operator=(const ErrorStream&) = delete;

  /// For the child. It keeps the reading end open too: if this process is killed, mpirun must be able to write messages
  /// while it ends the job, instead of dying of a broken pipe and leaving the job behind.
  void become_standard_error() const {
    dup2(pipe_.writing(), STDERR_FILENO);
    fcntl(pipe_.reading(), F_SETFD, 0);
  }

  /// For the parent.
  void start_reading() {
    pipe_.close_writing();
    reader_ = std::thread([this] { read_all(); });
  }

  /// For the parent: waits until all is shown. Returns the last part of it.
  const std::string& read_to_the_end() {
    pipe_.close_writing();
    if (reader_.joinable()) reader_.join();
    return last_;
  }

  /// The same for what has come so far: processes that are left may keep the stream open.
  const std::string& read_what_has_come() {
    stop_.close_writing();
    return read_to_the_end();
  }

 private:
  void read_all() {
    // A closed terminal must not end the job.
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);

    OutputFilter filter;
    std::array<char, 4096> buffer;
    for (;;) {
      std::array<pollfd, 2> events{{{pipe_.reading(), POLLIN, 0}, {stop_.reading(), POLLIN, 0}}};
      const int come = poll(events.data(), events.size(), filter.holds_back() ? hold_back.count() : -1);
      if (come < 0) continue;  // a signal
      if (come == 0) {
        show(filter.flush());
        continue;
      }
      if (events[0].revents == 0) break;  // all that has come is read
      const ssize_t count = read(pipe_.reading(), buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      show(filter.feed({buffer.data(), static_cast<std::size_t>(count)}));
    }
    show(filter.flush());
  }

  void show(std::string_view text) {
    constexpr std::size_t most = 64 * 1024;
    last_.append(text);
    if (last_.size() > 2 * most) last_.erase(0, last_.size() - most);
    while (!text.empty()) {
      const ssize_t count = write(STDERR_FILENO, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;  // no process reads the output
      text.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  Pipe pipe_;
  Pipe stop_;         ///< nothing is written into it; its end tells the reader to stop
  std::string last_;  ///< belongs to the reader until it has ended
  std::thread reader_;
};

/// Without a terminal, a signal for the whole group of this process (as `timeout` and batch systems send it) would also
/// reach mpirun, which ends the job on it. At a terminal, mpirun must stay in the group that may read from it.
bool has_terminal() {
  const int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (terminal >= 0) close(terminal);
  return terminal >= 0;
}

/// Removes the folder of an mpirun with this process id, which has no mpirun now: one that was killed has left it. Open
/// MPI 5.0.9 and later do not start beside its files (docs/open-mpi.md).
void remove_session_folder(pid_t process) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::string name = host.data();
  std::error_code ignored;
  const std::filesystem::path where = std::filesystem::temp_directory_path(ignored);
  for (const std::string& of_host : {name, name.substr(0, name.find('.'))})
    std::filesystem::remove_all(where / fmt::format("prterun.{}.{}.{}", of_host, process, geteuid()), ignored);
}

[[noreturn]] void become(const std::vector<std::string>& line, const Environment& additions, const sigset_t& blocked,
                         pid_t parent, bool has_own_group, const ErrorStream& errors) {
  errors.become_standard_error();
  sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  if (has_own_group) setpgid(0, 0);
  // On SIGTERM mpirun ends its whole job; after SIGKILL the processes would continue without it. The guard kills it if
  // necessary.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) raise(SIGTERM);  // the parent died before prctl
  for (const auto& [name, value] : additions) setenv(name.c_str(), value.c_str(), 1);
  remove_session_folder(getpid());
  std::vector<char*> arguments;
  for (const auto& word : line) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  std::fprintf(stderr, "mend: cannot run %s: %s\n", arguments[0], std::strerror(errno));
  _exit(127);
}

/// Reaps what others have left behind, which is a child of this process now, when it has ended.
void reap_adopted(pid_t child, pid_t guarding) {
  for (const pid_t pid : children_of(getpid()))
    if (pid != child && pid != guarding) waitpid(pid, nullptr, WNOHANG);
}

}  // namespace

// This process is a subreaper, so it inherits what mpirun leaves behind, and also the children of those that it kills.
bool kill_leftovers() {
  std::vector<pid_t> of_others;  // of another user: a setuid program, for instance
  const auto is_of_others = [&](pid_t pid) { return std::ranges::find(of_others, pid) != of_others.end(); };
  for (;;) {
    auto left = children_of(getpid());
    std::erase_if(left, is_of_others);
    if (left.empty()) break;
    for (const pid_t pid : left) {
      if (kill(pid, SIGKILL) == 0) {
        waitpid(pid, nullptr, 0);
      } else if (waitpid(pid, nullptr, WNOHANG) != pid) {
        of_others.push_back(pid);
      }
    }
  }
  if (of_others.empty()) return true;
  static std::set<pid_t> reported;  // once each: mend run may start its job several times
  std::vector<std::string> names;
  for (const pid_t pid : of_others)
    if (reported.insert(pid).second) names.push_back(fmt::format("{} ({})", pid, name_of(pid)));
  if (names.empty()) return false;
  say(fmt::format(
      "the job has left processes behind that belong to another user, and that mend cannot kill: process {}",
      fmt::join(names, ", process ")));
  return false;
}

ChildEnd run_child(const std::vector<std::string>& line, const Environment& additions,
                   const std::function<Look(const Children& children)>& look,
                   const std::function<bool(int signal)>& heed) {
  const sigset_t waited_for = block_signals();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const bool has_own_group = !has_terminal() || outlives_its_terminal();
  sigset_t from_before;  // signals that the child does not get by itself, because it does not exist yet
  sigpending(&from_before);
  ErrorStream errors;
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child < 0) throw EnvironmentError(fmt::format("cannot start {}: {}", line.front(), std::strerror(errno)));
  if (child == 0) become(line, additions, waited_for, self, has_own_group, errors);
  const pid_t guarding = guard(child, patience);
  errors.start_reading();

  ChildEnd end;
  end.pid = child;
  std::optional<Clock::time_point> give_up_at;
  std::optional<Clock::time_point> over_since;
  Clock::time_point next_look = Clock::now();
  for (;;) {
    siginfo_t info{};
    const int signal = sigtimedwait(&waited_for, &info, &tick);
    if (signal == SIGCHLD) {
      siginfo_t ended{};
      const bool has_ended = waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) == 0;
      if (has_ended && ended.si_pid == child) {
        end.had_children = has_waited_for_children(child);
        remove_session_folder(child);  // while nobody else has its process id
      }
      int status = 0;
      if (waitpid(child, &status, WNOHANG) == child) {
        if (WIFSIGNALED(status)) {
          end.ended_by = WTERMSIG(status);
        } else {
          end.exit_code = WEXITSTATUS(status);
        }
        const bool all_have_ended = kill_leftovers();
        end.last_errors = all_have_ended ? errors.read_to_the_end() : errors.read_what_has_come();
        return end;
      }
      reap_adopted(child, guarding);
    } else if (signal > 0 && heed && heed(signal)) {
      continue;
    } else if (signal > 0) {
      if (asks_to_end(signal)) {
        end.asked_to_end = signal;
        give_up_at = give_up_at.value_or(Clock::now() + patience);
      } else {
        end.passed_on.insert(signal);
      }
      // The kernel sends signals of the terminal to the whole foreground group, with mpirun if it is in it. mpirun
      // treats a second Ctrl-C as a demand to abort.
      const bool is_from_before = sigismember(&from_before, signal) == 1;
      sigdelset(&from_before, signal);
      if (info.si_code != SI_KERNEL || has_own_group || is_from_before) kill(child, for_mpirun(signal));
    }
    if (signal < 0 || Clock::now() >= next_look) {  // signals may come faster than time passes
      next_look = Clock::now() + std::chrono::nanoseconds(tick.tv_nsec);
      const Look seen = look({child, guarding});
      if (!seen.wanted && !end.gave_up && !end.asked_to_end) {
        end.gave_up = true;
        give_up_at = Clock::now() + patience;
        kill(child, SIGTERM);
      }
      over_since = seen.over ? over_since.value_or(Clock::now()) : std::optional<Clock::time_point>();
    }
    if (over_since && Clock::now() > *over_since + patience) {
      end.was_stuck = true;
      kill(child, SIGKILL);
    }
    if (give_up_at && Clock::now() > *give_up_at) kill(child, SIGKILL);
  }
}

}  // namespace mend::jobs
