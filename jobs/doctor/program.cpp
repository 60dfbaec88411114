#include "jobs/doctor/program.hpp"

#include "base/error.hpp"
#include "jobs/doctor/held_signals.hpp"
#include "jobs/pipe.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace mend::jobs {
namespace {

using Clock = std::chrono::steady_clock;

/// Adds the available output to `text`; closes the pipe at the end of the output.
void read_into(std::string& text, Pipe& pipe) {
  std::array<char, 4096> buffer;
  const auto count = ::read(pipe.reading(), buffer.data(), buffer.size());
  if (count > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  } else if (count == 0 || errno != EINTR) {
    pipe.close_reading();
  }
}

}  // namespace

std::string ProgramEnd::complaint() const {
  if (!in_time) return "it has not ended in time";
  for (std::size_t begin = 0; begin < errors.size();) {
    const auto end = std::min(errors.find('\n', begin), errors.size());
    const std::string line = errors.substr(begin, end - begin);
    const bool is_of_allocation = line.starts_with("mend: Slurm ends this job ");  // by mend run
    const bool is_note = is_of_allocation || line.find(": note: ") != std::string::npos;
    if (end > begin && !is_note) return line;
    begin = end + 1;
  }
  return fmt::format("exit code {}", exit_code);
}

ProgramEnd run_program(const std::vector<std::string>& line, std::chrono::seconds limit) {
  Pipe output;
  Pipe errors;
  std::vector<std::string> copies = line;
  std::vector<char*> words;
  for (auto& word : copies) words.push_back(word.data());
  words.push_back(nullptr);
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw EnvironmentError(fmt::format("cannot start {}: {}", line.front(), std::strerror(errno)));
  if (child == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != self) ::_exit(127);  // the parent died before prctl
    std::signal(SIGPIPE, SIG_DFL);
    if (HeldSignals::before() != nullptr) ::sigprocmask(SIG_SETMASK, HeldSignals::before(), nullptr);
    ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    ::dup2(output.writing(), STDOUT_FILENO);
    ::dup2(errors.writing(), STDERR_FILENO);
    ::execvp(words.front(), words.data());
    ::_exit(127);
  }
  ::setpgid(child, child);
  output.close_writing();
  errors.close_writing();

  ProgramEnd end;
  constexpr std::chrono::seconds patience_when_asked{5};
  bool is_asked_to_end = false;
  auto deadline = Clock::now() + limit;
  while (output.reading() >= 0 || errors.reading() >= 0) {
    const bool is_over = Clock::now() >= deadline;
    if (is_over) end.in_time = false;
    if (is_over && is_asked_to_end) {
      ::kill(-child, SIGKILL);
      break;
    }
    if (is_over || (HeldSignals::come() && !is_asked_to_end)) {
      is_asked_to_end = true;
      ::kill(-child, SIGTERM);
      deadline = Clock::now() + patience_when_asked;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    std::array<pollfd, 2> streams{{{output.reading(), POLLIN, 0}, {errors.reading(), POLLIN, 0}}};
    const timespec patience{left / 1000, left % 1000 * 1'000'000};
    if (::ppoll(streams.data(), streams.size(), &patience, HeldSignals::before()) < 0) continue;
    if (streams[0].revents != 0) read_into(end.output, output);
    if (streams[1].revents != 0) read_into(end.errors, errors);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (const auto signal = HeldSignals::come()) throw Interrupted{*signal};
  end.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return end;
}

}  // namespace mend::jobs
