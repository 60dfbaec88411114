// mend script: prints a job script for a batch system.

#include "base/error.hpp"
#include "jobs/commands.hpp"
#include "jobs/plan/quantities.hpp"
#include "jobs/program_argument.hpp"
#include "jobs/run/placement.hpp"
#include "jobs/script/job_script.hpp"

#include <cstdio>
#include <map>
#include <memory>

namespace mend::jobs {
namespace {

struct ScriptArguments {
  std::string scheduler;
  std::string time_limit = "1h";
  std::string spares = "0";  // as typed by the user
  JobDescription job;
};

const std::map<std::string, Scheduler> schedulers{
    {"slurm", Scheduler::slurm}, {"pbs", Scheduler::pbs}, {"lsf", Scheduler::lsf}, {"flux", Scheduler::flux}};

int print_script(ScriptArguments& arguments) {
  arguments.job.time_limit = parse_time(arguments.time_limit);
  arguments.job.spares = spares_for(arguments.spares, arguments.job.ranks);
  std::fputs(job_script(schedulers.at(arguments.scheduler), arguments.job).c_str(), stdout);
  return static_cast<int>(ExitCode::ok);
}

}  // namespace

void add_script_command(CLI::App& mend, const std::vector<std::string>& after_dashes, Action& chosen) {
  auto arguments = std::make_shared<ScriptArguments>();
  JobDescription& job = arguments->job;
  auto* script = mend.add_subcommand("script", "Print a job script for a batch system");
  end_with_program(*script);
  script->footer(
      "The program and its arguments come last, after two dashes:\n"
      "  mend script slurm -n 64 --spares 4 --processes-per-node 4 --time-limit 12h -- ./program > job.sh\n\n"
      "Exits with 0; with 2 for wrong arguments.");
  script->add_option("scheduler", arguments->scheduler, "slurm, pbs, lsf or flux")
      ->required()
      ->check(CLI::IsMember(schedulers));
  script->add_option("-n,--ranks", job.ranks, "Ranks of the application")
      ->required()
      ->check(CLI::Range(1, most_processes));
  auto* const spares = script
                           ->add_option("-s,--spares", arguments->spares,
                                        "Processes that wait to replace dead ones: a number, or a share of the ranks "
                                        "such as 10%")
                           ->type_name("N|P%")
                           ->capture_default_str();
  script
      ->add_option("--spare-nodes", job.spare_nodes,
                   "Instead: so many nodes in addition to those of the ranks, which are spares as a whole")
      ->check(CLI::Range(1, most_processes))
      ->excludes(spares);
  script->add_option("--processes-per-node", job.processes_per_node, "Ranks and spares on each node")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  script->add_option("--time-limit", arguments->time_limit, "Of the job: 90min, 12h, 2d")->capture_default_str();
  script->add_option("--name", job.name, "Of the job")->capture_default_str();
  script->add_option("--queue", job.queue, "Queue, or partition");
  script->add_option("--account", job.account, "Account, project or bank that is charged");
  script->add_option("--disk", job.disk, "Folder that all nodes see, for --mend-disk");
  script
      ->add_option("--requeue", job.requeues,
                   "How often the job is launched anew when too much has died, or it left in time; in LSF, the queue "
                   "limits how often")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  script->callback([arguments, &after_dashes, &chosen] {
    arguments->job.program = after_dashes;
    chosen = [arguments] { return print_script(*arguments); };
  });
}

}  // namespace mend::jobs
