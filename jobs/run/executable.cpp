#include "jobs/run/executable.hpp"

#include "base/error.hpp"
#include "jobs/run/find_mpirun.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace mend::jobs {
namespace {

/// In a child process of `parent`: tries to become the program, and writes the error to `errors` if that fails. If the
/// parent dies, nobody stops the program any more, so this process dies too.
[[noreturn]] void try_to_become(const char* file, int errors, pid_t parent) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(0);
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(0);  // otherwise the program would run
  std::array<char*, 2> arguments{const_cast<char*>(file), nullptr};
  execv(file, arguments.data());
  const int error = errno;
  [[maybe_unused]] const auto written = write(errors, &error, sizeof error);
  _exit(0);
}

/// The error of execve for `file`; 0 if there is none.
int error_of_running(const std::filesystem::path& file) {
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0)
    throw EnvironmentError(fmt::format("cannot make a pipe: {}", strerror(errno)));
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) try_to_become(file.c_str(), pipe[1], self);
  close(pipe[1]);
  int status = 0;
  if (child > 0 && waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  int error = 0;
  const bool has_failed = read(pipe[0], &error, sizeof error) == sizeof error;
  close(pipe[0]);
  return has_failed ? error : 0;
}

/// The interpreter that a script names in its first line; empty if the file is not a script. In a file with DOS line
/// ends the carriage return belongs to the name, and is shown.
std::string interpreter_of(const std::filesystem::path& file) {
  std::ifstream content(file, std::ios::binary);
  std::array<char, 2> mark{};
  std::string line;
  if (!content.read(mark.data(), mark.size()) || mark != std::array{'#', '!'} || !std::getline(content, line))
    return "";
  std::string name;
  std::istringstream(line) >> name;  // skips the carriage return as white space
  return line.ends_with("\r") && line.find(name + "\r") != std::string::npos ? name + "\\r" : name;
}

}  // namespace

std::optional<std::filesystem::path> find_program(const std::string& program) {
  if (program.find('/') != std::string::npos)
    return runnable(program) ? std::optional<std::filesystem::path>(program) : std::nullopt;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto file = std::filesystem::path(folder) / program;
    if (runnable(file)) return file;
  }
  return std::nullopt;
}

std::string obstacle_to_running(const std::filesystem::path& file, const std::string& name) {
  const int error = error_of_running(file);
  if (error == 0) return "";
  if (error == ENOEXEC) return fmt::format("'{}' is neither a program nor a script (exec format error)", name);
  const std::string interpreter = interpreter_of(file);
  if (error == ENOENT && !interpreter.empty())
    return fmt::format("'{}' cannot be run: its interpreter {} is missing", name, interpreter);
  return fmt::format("'{}' cannot be run: {}", name, std::strerror(error));
}

}  // namespace mend::jobs
