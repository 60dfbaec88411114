#include "jobs/allocation/slurm_agent.hpp"

#include "base/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace mend::jobs {
namespace {

constexpr std::string_view started = "mend: started\n";

/// Removes the option --daemonize: if a daemon puts itself into the background, its step ends, and Slurm kills it.
std::string without_background(std::string command) {
  constexpr std::string_view option = " --daemonize";
  if (const auto at = command.find(option); at != std::string::npos) command.erase(at, option.size());
  return command;
}

/// Removes the variables of the job's shape, from which srun would take its request.
void forget_shape_of_job() {
  for (const char* name : {"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE",
                           "SLURM_CPUS_PER_TASK", "SLURM_MEM_PER_CPU", "SLURM_MEM_PER_GPU", "SLURM_MEM_PER_NODE",
                           "SLURM_DISTRIBUTION", "SLURM_ARBITRARY_NODELIST"}) {
    ::unsetenv(name);
  }
  // The daemon may use all resources of the job on the node, even if other steps run there. These are variables and not
  // options, because an old srun refuses unknown options.
  ::setenv("SLURM_WHOLE", "1", 1);
  ::setenv("SLURM_OVERLAP", "1", 1);
}

[[noreturn]] void become_srun(const std::string& node, const std::string& script, int output) {
  ::setsid();  // so that a signal for mpirun's group does not end it
  ::dup2(output, STDOUT_FILENO);
  const std::string nodelist = "--nodelist=" + node;
  const std::array<const char*, 14> words{"srun",
                                          "--nodes=1",
                                          "--ntasks=1",
                                          "--ntasks-per-node=1",
                                          "--mem=0",
                                          "--mpi=none",
                                          "--cpu-bind=none",
                                          "--input=none",
                                          "--quit-on-interrupt",
                                          nodelist.c_str(),
                                          "/bin/sh",
                                          "-c",
                                          script.c_str(),
                                          nullptr};
  ::execvp("srun", const_cast<char* const*>(words.data()));
  std::fprintf(stderr, "mend: srun cannot be started: %s\n", std::strerror(errno));
  ::_exit(127);
}

/// Returns true when the node has reported the start, false if the stream ends before that.
bool hears_of_start(int stream) {
  std::string heard;
  std::array<char, 256> piece{};
  while (heard.find(started) == std::string::npos) {
    const ssize_t length = ::read(stream, piece.data(), piece.size());
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return false;
    heard.append(piece.data(), static_cast<std::size_t>(length));
  }
  return true;
}

}  // namespace

int start_daemon(const std::string& node, const std::vector<std::string>& command) {
  std::string script = fmt::format("printf '{}'; exec >/dev/null;", "mend: started\\n");
  for (const std::string& word : command) script += " " + word;
  script = without_background(script);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw EnvironmentError(fmt::format("no pipe can be made: {}", std::strerror(errno)));
  forget_shape_of_job();
  const pid_t srun = ::fork();
  if (srun < 0) throw EnvironmentError(fmt::format("no process can be started: {}", std::strerror(errno)));
  if (srun == 0) become_srun(node, script, ends[1]);
  ::close(ends[1]);
  if (hears_of_start(ends[0])) return 0;
  int status = 0;
  while (::waitpid(srun, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : 1;
}

}  // namespace mend::jobs
