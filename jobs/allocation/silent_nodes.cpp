#include "jobs/allocation/silent_nodes.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "jobs/allocation/nodes.hpp"
#include "jobs/run/child.hpp"
#include "jobs/shell_words.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>

namespace mend::jobs {
namespace {

/// Blocks SIGCHLD, so that no signal is lost while this process waits for it.
sigset_t block_end_of_child() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return set;
}

[[noreturn]] void become_shell(const std::string& line) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setsid();  // so that a signal for mend run's group does not reach it
  const int null = ::open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, stream);
  ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
  ::_exit(127);
}

/// Removes the processes of `asked` that have ended; the nodes of those that failed go to `silent`.
void reap(std::map<pid_t, std::string>& asked, std::vector<std::string>& silent) {
  std::erase_if(asked, [&](const auto& one) {
    int status = 0;
    if (::waitpid(one.first, &status, WNOHANG) != one.first) return false;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) silent.push_back(one.second);
    return true;
  });
}

}  // namespace

std::vector<std::string> silent_nodes(const std::vector<Node>& nodes, const std::string& agent,
                                      std::chrono::seconds patience) {
  const sigset_t end_of_child = block_end_of_child();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // to kill what the agents have started, too
  std::map<pid_t, std::string> asked;
  for (const Node& node : nodes) {
    if (is_this_machine(node)) continue;
    const pid_t child = ::fork();
    if (child < 0) {
      const int error = errno;
      kill_leftovers();
      throw EnvironmentError(fmt::format("no process can be started: {}", std::strerror(error)));
    }
    if (child == 0) become_shell(fmt::format("exec {} {} true", agent, in_single_quotes(node.name)));
    asked.emplace(child, node.name);
  }
  const auto deadline = Clock::now() + patience;
  std::vector<std::string> silent;
  for (reap(asked, silent); !asked.empty(); reap(asked, silent)) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - Clock::now()).count();
    if (left <= 0) break;
    const timespec wait{.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
    sigtimedwait(&end_of_child, nullptr, &wait);
  }
  for (const auto& [process, node] : asked) silent.push_back(node);
  kill_leftovers();
  std::ranges::sort(silent);
  return silent;
}

}  // namespace mend::jobs
