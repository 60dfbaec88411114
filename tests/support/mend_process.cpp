#include "tests/support/mend_process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

void drain(int& pipe, std::string& text) {
  std::array<char, 4096> buffer;
  const auto count = ::read(pipe, buffer.data(), buffer.size());
  if (count > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  } else {
    ::close(pipe);
    pipe = -1;
  }
}

std::vector<pid_t> children_of(pid_t parent) {
  std::ifstream list("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
  return {std::istream_iterator<pid_t>(list), {}};
}

/// As the kernel calls it.
std::string name_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace

MendProcess::MendProcess(const std::vector<std::string>& arguments, int input, const std::vector<std::string>& unset) {
  std::array<int, 2> output{};
  std::array<int, 2> errors{};
  if (::pipe2(output.data(), O_CLOEXEC) != 0 || ::pipe2(errors.data(), O_CLOEXEC) != 0)
    throw std::runtime_error("pipe");
  std::vector<std::string> words{MEND_COMMAND};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> line;
  for (auto& word : words) line.push_back(word.data());
  line.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::setsid();
    ::dup2(input != no_input ? input : ::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    ::dup2(output[1], STDOUT_FILENO);
    ::dup2(errors[1], STDERR_FILENO);
    for (const auto& name : unset) ::unsetenv(name.c_str());
    ::execv(line[0], line.data());
    ::_exit(127);
  }
  ::close(output[1]);
  ::close(errors[1]);
  output_pipe_ = output[0];
  errors_pipe_ = errors[0];
}

MendProcess::~MendProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (output_pipe_ >= 0) ::close(output_pipe_);
  if (errors_pipe_ >= 0) ::close(errors_pipe_);
}

bool MendProcess::read_some(std::chrono::milliseconds patience) {
  if (output_pipe_ < 0 && errors_pipe_ < 0) return false;
  std::array<pollfd, 2> streams{{{output_pipe_, POLLIN, 0}, {errors_pipe_, POLLIN, 0}}};
  ::poll(streams.data(), streams.size(), static_cast<int>(patience.count()));
  if (streams[0].revents != 0) drain(output_pipe_, output_);
  if (streams[1].revents != 0) drain(errors_pipe_, errors_);
  return true;
}

void MendProcess::wait_for(const std::string& text, const std::string& stream, std::size_t from) {
  const auto until = Clock::now() + usual_deadline;
  while (stream.find(text, from) == std::string::npos) {
    ASSERT_LT(Clock::now(), until) << "'" << text << "' has not come; so far: " << output_ << errors_;
    ASSERT_TRUE(read_some(std::chrono::milliseconds(100))) << "'" << text << "' never came: " << output_ << errors_;
  }
}

int MendProcess::wait(std::chrono::seconds at_most) {
  const auto until = Clock::now() + at_most;
  while (read_some(std::chrono::milliseconds(100))) {
    if (Clock::now() > until) {
      ADD_FAILURE() << "the command has not ended; so far: " << output_ << errors_;
      return -1;
    }
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::vector<pid_t> processes_with_argument(const std::string& word) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size()) continue;
    // A zombie's command line is empty.
    std::ifstream file(entry.path() / "cmdline");
    for (std::string argument; std::getline(file, argument, '\0');) {
      if (argument == word) {
        found.push_back(pid);
        break;
      }
    }
  }
  return found;
}

bool all_gone(const std::string& word) {
  const auto until = Clock::now() + std::chrono::seconds(10);
  while (!processes_with_argument(word).empty()) {
    if (Clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

pid_t mpirun_of(const MendProcess& job) {
  std::vector<pid_t> children = children_of(job.pid());
  // The guard begins under the name of its parent.
  std::erase_if(children, [](pid_t one) { return name_of(one) == "mpirun-guard" || name_of(one) == "mend"; });
  // Not -1, which stands for every process when it is given to kill().
  if (children.size() != 1) throw std::runtime_error("mend run has no mpirun, or several");
  return children.front();
}

std::vector<pid_t> launched_with_argument(const std::string& word, const MendProcess& job) {
  // Not those of another job with this argument, which may run at the same time.
  std::vector<pid_t> launched;
  for (const pid_t child : children_of(job.pid())) {
    for (const pid_t process : children_of(child)) launched.push_back(process);
  }
  auto found = processes_with_argument(word);
  std::erase_if(found, [&](pid_t one) { return std::ranges::find(launched, one) == launched.end(); });
  return found;
}
