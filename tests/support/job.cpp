#include "tests/support/job.hpp"

#include "tests/support/process_tree.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace support {
namespace {

using Clock = std::chrono::steady_clock;

/// One end of a pipe that a child writes to.
class Stream {
 public:
  Stream() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
  }
  ~Stream() {
    close(0);
    close(1);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int writer() const { return ends_[1]; }
  void close_writer() { close(1); }
  pollfd wish() const { return {ends_[0], POLLIN, 0}; }
  bool open() const { return ends_[0] >= 0; }

  void read_some() {
    std::array<char, 65536> buffer;
    const auto count = ::read(ends_[0], buffer.data(), buffer.size());
    if (count > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(count));
    } else {
      close(0);
    }
  }

  std::string text;

 private:
  void close(std::size_t end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }
  std::array<int, 2> ends_{-1, -1};
};

pid_t start(const Job& job, const Stream& output, const Stream& errors) {
  std::vector<std::string> words = job.command;
  std::vector<char*> line;
  for (std::string& word : words) line.push_back(word.data());
  line.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(output.writer(), STDOUT_FILENO);
  ::dup2(errors.writer(), STDERR_FILENO);
  for (const auto& [name, value] : job.environment) ::setenv(name.c_str(), value.c_str(), 1);
  ::execvp(line[0], line.data());
  ::_exit(127);
}

/// Reads both streams until both have ended. Returns false if the deadline comes first.
bool read_to_the_end(const Job& job, Stream& output, Stream& errors, Clock::time_point deadline) {
  while (output.open() || errors.open()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 2> wishes{output.wish(), errors.wish()};
    if (::poll(wishes.data(), wishes.size(), static_cast<int>(left.count())) <= 0) continue;
    if (wishes[1].revents != 0) errors.read_some();
    if (wishes[0].revents == 0) continue;
    output.read_some();
    if (job.on_output) job.on_output(output.text);
  }
  return true;
}

int exit_code_of(int status) { return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status); }

/// The processes of the job that are left shortly after its end. Orphans become children of this process, so none is
/// missed.
std::vector<pid_t> wait_for_stragglers() {
  const auto patience = Clock::now() + std::chrono::seconds(5);
  for (;;) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    std::vector<pid_t> left = descendants_of(::getpid());
    if (left.empty() || Clock::now() > patience) return left;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void end_all_descendants() {
  for (int round = 0; round < 50; ++round) {  // dying processes may have started others
    const std::vector<pid_t> processes = descendants_of(::getpid());
    for (pid_t process : processes) ::kill(process, SIGKILL);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (processes.empty()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

std::chrono::seconds soak_time(std::chrono::seconds unless_told) {
  const char* wish = std::getenv("MEND_SOAK_SECONDS");
  return wish != nullptr ? std::chrono::seconds(std::stol(wish)) : unless_told;
}

bool soon(const std::function<bool()>& done) {
  const auto deadline = Clock::now() + std::chrono::seconds(30);
  while (!done()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

JobEnd run_job(const Job& job) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  Stream output;
  Stream errors;
  const auto began = Clock::now();
  const pid_t child = start(job, output, errors);
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  output.close_writer();
  errors.close_writer();

  JobEnd end;
  end.in_time = read_to_the_end(job, output, errors, began + job.deadline);
  if (!end.in_time) {
    ADD_FAILURE() << "the job hangs: " << joined(job.command) << "\n--- output so far\n"
                  << output.text << "--- errors so far\n"
                  << errors.text << "--- stacks\n"
                  << stacks_of(descendants_of(::getpid()));
    end_all_descendants();
    end.exit_code = 1000 + SIGKILL;
  } else {
    int status = 0;
    ::waitpid(child, &status, 0);
    end.exit_code = exit_code_of(status);
    end.left_behind = wait_for_stragglers();
    if (!end.left_behind.empty()) {
      ADD_FAILURE() << "the job left processes behind: " << joined(job.command) << "\n" << stacks_of(end.left_behind);
      end_all_descendants();
    }
  }
  end.output = output.text;
  end.errors = errors.text;
  end.took = Clock::now() - began;
  return end;
}

Job mend_run(int ranks, int spares, const std::vector<std::string>& program) {
  Job job;
  job.command = {MEND_COMMAND, "run", "-n", std::to_string(ranks), "--spares", std::to_string(spares), "--"};
  job.command.insert(job.command.end(), program.begin(), program.end());
  // Less than the deadline: a report of the ranks that wait says more than that the job hangs.
  job.environment = {{"MEND_STALL", "30"}, {"MEND_STALL_LIMIT", "45"}};
  return job;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::string line;
  for (const char letter : text + "\n") {
    if (letter == '\r' || letter == '\0') continue;
    if (letter != '\n') {
      line += letter;
    } else if (!line.empty()) {
      lines.push_back(std::move(line));
      line.clear();
    }
  }
  return lines;
}

std::vector<std::string> complaints(const JobEnd& end) {
  std::vector<std::string> kept;
  std::vector<std::string> notice;  // begins with a line of dashes
  const auto is_rule = [](const std::string& line) { return line.find_first_not_of('-') == std::string::npos; };
  for (const std::string& line : lines_of(end.errors)) {
    if (line.starts_with("mend") && line.find(": note: ") != std::string::npos) continue;
    const bool opens = notice.empty() && is_rule(line);
    const bool closes = !notice.empty() && is_rule(line);
    (opens || !notice.empty() ? notice : kept).push_back(line);
    if (!closes) continue;
    if (notice[1].find("'topo' module 'basic' is not tested") == std::string::npos) {
      kept.insert(kept.end(), notice.begin(), notice.end());
    }
    notice.clear();
  }
  kept.insert(kept.end(), notice.begin(), notice.end());
  return kept;
}

}  // namespace support
