#include "jobs/script/job_script.hpp"

#include "base/error.hpp"
#include "jobs/shell_words.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace mend::jobs {
namespace {

struct Clockwise {
  long hours, minutes, seconds;
};

Clockwise clockwise(Seconds time) {
  const long all = static_cast<long>(std::ceil(time.count()));
  return {all / 3600, all / 60 % 60, all % 60};
}

std::string hours_minutes_seconds(Seconds time) {
  const auto [hours, minutes, seconds] = clockwise(time);
  return fmt::format("{:02}:{:02}:{:02}", hours, minutes, seconds);
}

/// Returns the option for the time limit, for batch systems that mend run does not ask for it.
std::string limit_of(const JobDescription& job) {
  return fmt::format(" --time-limit {:.0f}s", std::ceil(job.time_limit.count()));
}

/// The command that runs the job. `where`: options for the nodes, for batch systems that Open MPI does not query
/// itself.
std::string run_line(const JobDescription& job, std::string_view where) {
  const std::string spares =
      job.spare_nodes > 0 ? fmt::format("--spare-nodes {}", job.spare_nodes) : fmt::format("--spares {}", job.spares);
  std::string line = fmt::format("mend run -n {} {}{} --", job.ranks, spares, where);
  const std::string disk = job.disk.empty() ? "" : " --mend-disk " + shell_quoted(job.disk.string());
  bool has_dashes = false;  // of the program: the words after them are not for mend
  for (const std::string& word : job.program) {
    if (word == "--" && !std::exchange(has_dashes, true)) line += disk;
    line += " " + shell_quoted(word);
  }
  return line + (has_dashes ? "" : disk);
}

/// The same for a script with more commands after it, which a SIGTERM for the script alone would end.
std::string run_line_and_wait(const JobDescription& job, std::string_view where) {
  return run_line(job, where) + R"( &
run=$!
# SIGTERM for this script is for mend run, which has the job leave.
trap 'kill -TERM $run; signalled=1' TERM
wait $run
code=$?
while [ -n "$signalled" ]; do
  signalled=
  wait $run
  again=$?
  if [ $again -ne 127 ]; then code=$again; fi
done
)";
}

std::string optional_line(std::string_view prefix, const std::string& value) {
  return value.empty() ? "" : fmt::format("{}{}\n", prefix, value);
}

/// Returns the lines for exit codes 3 and 4: the committed data is on disk, and another launch continues from it.
std::string requeue_lines(std::string_view count, int most, std::string_view command) {
  return fmt::format(
      R"(# 3: too many processes died to continue in place. 4: the job left before its time limit. The next launch goes on from the disk.
if {{ [ $code -eq 3 ] || [ $code -eq 4 ]; }} && [ "{}" -lt {} ]; then
  {}
fi
exit $code
)",
      count, most, command);
}

/// With --no-kill, Slurm keeps a job whose first node is lost, although its script and mend run are gone. So a small
/// step on the next node asks for the first one's state, and has the job launched anew. SLURM_OVERLAP: an old srun does
/// not know the option.
std::string guard_of_first_node(const JobDescription& job) {
  if (job.requeues == 0 || job.nodes() < 2) return "";
  return fmt::format(R"(
# If this node is lost, the next one has the job launched anew: it goes on from the disk.
if [ "${{SLURM_RESTART_COUNT:-0}}" -lt {} ]; then
  SLURM_OVERLAP=1 srun --relative=1 --nodes=1 --ntasks=1 --ntasks-per-node=1 --mem=0 --mpi=none --cpu-bind=none \
    --input=none sh -c 'while sleep 15; do
      case $(sinfo --noheader --nodes="$0" --format=%t) in down*) scontrol requeue "$SLURM_JOB_ID" ;; esac
    done' "$SLURMD_NODENAME" >/dev/null 2>&1 &
fi
)",
                     job.requeues);
}

/// Slurm ends a script that it requeues; if the script ended by itself, its exit code would become the job's exit code.
constexpr std::string_view until_it_is_ended = " && sleep 60";

std::string slurm(const JobDescription& job) {
  std::string text = fmt::format(
      "#!/bin/bash\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --nodes={}\n"
      "#SBATCH --ntasks-per-node={}\n"
      "#SBATCH --time={}\n",
      job.name, job.nodes(), job.processes_per_node, hours_minutes_seconds(job.time_limit));
  text += optional_line("#SBATCH --partition=", job.queue);
  text += optional_line("#SBATCH --account=", job.account);
  text += R"(# The job outlives the loss of a node.)"
          "\n"
          "#SBATCH --no-kill\n";
  if (job.requeues > 0) text += "#SBATCH --requeue\n#SBATCH --open-mode=append\n";
  text += guard_of_first_node(job) + "\n";
  if (job.requeues == 0) return text + run_line(job, "") + "\n";
  text += run_line_and_wait(job, "") +
          requeue_lines("${SLURM_RESTART_COUNT:-0}", job.requeues,
                        fmt::format(R"(scontrol requeue "$SLURM_JOB_ID"{})", until_it_is_ended));
  return text;
}

std::string pbs(const JobDescription& job) {
  std::string text = fmt::format(
      "#!/bin/bash\n"
      "#PBS -N {}\n"
      "#PBS -l select={}:ncpus={}:mpiprocs={}\n"
      "#PBS -l place=scatter\n"
      "#PBS -l walltime={}\n"
      "#PBS -j oe\n",
      job.name, job.nodes(), job.processes_per_node, job.processes_per_node, hours_minutes_seconds(job.time_limit));
  text += optional_line("#PBS -q ", job.queue);
  text += optional_line("#PBS -A ", job.account);
  text += R"(# The job outlives the loss of a node.)"
          "\n"
          "#PBS -W tolerate_node_failures=all\n";
  if (job.requeues > 0) text += "#PBS -r y\n";  // when the node of the script is lost
  text += "\ncd \"$PBS_O_WORKDIR\"\n";
  const std::string where = limit_of(job) + " --hostfile \"$PBS_NODEFILE\"";
  if (job.requeues == 0) return text + run_line(job, where) + "\n";
  return text + run_line_and_wait(job, where) +
         requeue_lines("${launches:-0}", job.requeues,
                       R"(# Only operators may requeue a job of PBS. So this script is submitted once more.
  qsub -v launches=$((${launches:-0} + 1)) "$0")");
}

std::string lsf(const JobDescription& job) {
  const auto [hours, minutes, seconds] = clockwise(job.time_limit + Seconds(59));  // LSF counts in minutes
  std::string text = fmt::format(
      "#!/bin/bash\n"
      "#BSUB -J {}\n"
      "#BSUB -n {}\n"
      "#BSUB -R span[ptile={}]\n"
      "#BSUB -W {:02}:{:02}\n"
      "#BSUB -o {}.%J.out\n",
      job.name, job.nodes() * job.processes_per_node, job.processes_per_node, hours, minutes, job.name);
  text += optional_line("#BSUB -q ", job.queue);
  text += optional_line("#BSUB -P ", job.account);
  if (job.requeues > 0) {
    text +=
        R"(# 3: too many processes died to continue in place. 4: the job left before its time limit. The next launch goes on
# from the disk. How often, the queue says (MAX_JOB_REQUEUE).
#BSUB -Q "3 4"
)";
  }
  return text + "\n" + run_line(job, limit_of(job) + " --hostfile \"$LSB_DJOB_HOSTFILE\"") + "\n";
}

std::string flux(const JobDescription& job) {
  if (job.requeues > 0) {
    throw UsageError(
        "Flux does not launch a batch job anew: leave --requeue out, and submit the script again when it ends with 3 "
        "or 4");
  }
  std::string text = fmt::format(
      "#!/bin/bash\n"
      "#flux: --job-name={}\n"
      "#flux: --nodes={}\n"
      "#flux: --nslots={}\n"
      "#flux: --exclusive\n"
      "#flux: --time-limit={:.0f}s\n",
      job.name, job.nodes(), job.nodes(), std::ceil(job.time_limit.count()));
  text += optional_line("#flux: --queue=", job.queue);
  text += optional_line("#flux: --bank=", job.account);
  text += "\n" +
          fmt::format(R"(hosts=$(flux hostlist --expand --delimiter=":{0}," local):{0})", job.processes_per_node) +
          "\n";
  return text + run_line(job, limit_of(job) + " --host \"$hosts\"") + "\n";
}

void check(const JobDescription& job) {
  if (job.program.empty())
    throw UsageError("no program to run: name it after two dashes, as in mend script slurm -n 4 -- ./program");
  if (job.requeues > 0 && job.disk.empty())
    throw UsageError("--requeue needs --disk DIR: without it each launch would start from the beginning");
  for (const std::string* text : {&job.name, &job.queue, &job.account}) {
    if (text->find_first_of(" \t\n'\"$`\\") != std::string::npos)
      throw UsageError(fmt::format("'{}' cannot be used in a job script: leave out blanks, quotes and dollars", *text));
  }
}

}  // namespace

std::string job_script(Scheduler scheduler, const JobDescription& job) {
  check(job);
  switch (scheduler) {
    case Scheduler::slurm: return slurm(job);
    case Scheduler::pbs: return pbs(job);
    case Scheduler::lsf: return lsf(job);
    case Scheduler::flux: break;
  }
  return flux(job);
}

}  // namespace mend::jobs
