#include "jobs/run/executable.hpp"

#include "jobs/pipe.hpp"
#include "jobs/run/find_mpirun.hpp"

#include <fmt/format.h>
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

/// In a child process: tries to become the program once it is told that it is traced, and writes the error to `errors`
/// if that fails. Without a tracer the program would run.
[[noreturn]] void try_to_become(const char* file, int when_traced, int errors) {
  char told = 0;
  if (read(when_traced, &told, 1) != 1) _exit(0);
  std::array<char*, 2> arguments{const_cast<char*>(file), nullptr};
  execv(file, arguments.data());
  const int error = errno;
  [[maybe_unused]] const auto written = write(errors, &error, sizeof error);
  _exit(0);
}

/// Returns the error of execve for `file`; 0 if there is none, or if processes cannot be traced here. The child stops
/// before the program's first instruction, and is killed; the kernel kills it also if this process dies first.
int error_of_running(const std::filesystem::path& file) {
  Pipe when_traced;
  Pipe errors;
  const pid_t child = fork();
  if (child == 0) {
    when_traced.close_writing();  // so that it learns of its parent's death
    try_to_become(file.c_str(), when_traced.reading(), errors.writing());
  }
  errors.close_writing();
  if (child > 0 && ptrace(PTRACE_SEIZE, child, nullptr, PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC) == 0) {
    const char told = 1;
    [[maybe_unused]] const auto written = write(when_traced.writing(), &told, sizeof told);
  }
  when_traced.close_writing();
  int status = 0;
  if (child > 0 && waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  int error = 0;
  const bool has_failed = read(errors.reading(), &error, sizeof error) == sizeof error;
  return has_failed ? error : 0;
}

/// Returns the interpreter that a script names in its first line; empty if the file is not a script. In a file with DOS
/// line ends the carriage return belongs to the name, and is shown.
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
