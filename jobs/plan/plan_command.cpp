// mend plan: recommends the number of spares, the redundancy, the interval, and whether to use a disk.

#include "base/error.hpp"
#include "base/files/whole_file.hpp"
#include "jobs/commands.hpp"
#include "jobs/plan/model.hpp"
#include "jobs/plan/picture.hpp"
#include "jobs/plan/quantities.hpp"
#include "jobs/report/result.hpp"
#include "jobs/run/placement.hpp"
#include "jobs/say.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace mend::jobs {
namespace {

using Json = nlohmann::ordered_json;

struct PlanArguments {
  int nodes = 0;
  int ranks_per_node = 1;
  std::string node_mtbf;
  std::string length;
  std::string state;
  std::string commit_cost;
  std::filesystem::path measured;
  std::string network = "10GB";
  std::string memory_speed = "4GB";
  std::string detection = "1s";
  std::string recovery;
  std::string requeue = "1h";
  std::string memory;
  std::string redundancy;
  int spare_nodes = -1;
  int disk_every = 10;
  std::string disk_cost;
  std::string risk = "1%";
  std::filesystem::path picture;
  bool json = false;
};

/// The given properties of the job, before anything is chosen.
struct Job {
  Scenario scenario;
  double state = 0;  ///< bytes per rank
  Seconds commit_of_partner{};
  double sent_share = 0;  ///< the part of commit_of_partner that sending one snapshot takes
  std::optional<double> memory;
  Seconds disk_cost{};
};

struct Choice {
  Redundancy redundancy;
  Scenario scenario;
  Forecast forecast;
  double memory = 0;  ///< bytes per rank, for two versions
  bool fits = true;
};

constexpr double versions = 2;  // --mend-versions

Job job_of(const PlanArguments& arguments) {
  Job job;
  Scenario& scenario = job.scenario;
  scenario.nodes = arguments.nodes;
  scenario.ranks_per_node = arguments.ranks_per_node;
  if (static_cast<long>(arguments.nodes) * arguments.ranks_per_node > 100'000'000)
    throw UsageError("more than 100000000 ranks cannot be planned: give fewer --nodes or --ranks-per-node");
  scenario.node_mtbf = parse_time(arguments.node_mtbf);
  scenario.work = parse_time(arguments.length);
  scenario.requeue = parse_time(arguments.requeue);
  std::optional<Seconds> given;
  if (!arguments.measured.empty()) {
    const auto result = read_result(arguments.measured);
    try {
      const double commits = timed_commits(result, arguments.measured.string());
      if (commits < 1 || !result.contains("phase_seconds") || !result.contains("snapshot_bytes"))
        throw UsageError(fmt::format("{} contains no commit: give --state-per-rank and --commit-cost instead",
                                     arguments.measured.string()));
      given = Seconds(std::max(result["phase_seconds"].value("commit", 0.0) / commits, 1e-9));
      job.state = result["snapshot_bytes"].get<double>();
    } catch (const nlohmann::json::exception& error) {
      throw not_a_result(arguments.measured.string(), error);
    }
  }
  if (!arguments.state.empty()) {
    const double state = parse_size(arguments.state);
    if (given && job.state > 0) *given *= state / job.state;
    job.state = state;
  }
  if (job.state <= 0)
    throw UsageError("the size of a rank's data is not known: give --state-per-rank, or --measured RESULT");
  const double packs = job.state / parse_size(arguments.memory_speed);
  const double sends = job.state * arguments.ranks_per_node / parse_size(arguments.network);
  job.sent_share = sends / (packs + sends);
  job.commit_of_partner = Seconds(packs + sends);
  if (!arguments.commit_cost.empty()) given = parse_time(arguments.commit_cost);
  if (given) job.commit_of_partner = *given;
  // A restore reads the state once and sends it, like a commit.
  scenario.recovery = arguments.recovery.empty() ? parse_time(arguments.detection) + job.commit_of_partner
                                                 : parse_time(arguments.recovery);
  job.disk_cost = arguments.disk_cost.empty() ? Seconds(packs) : parse_time(arguments.disk_cost);
  if (!arguments.memory.empty()) job.memory = parse_size(arguments.memory);
  const Seconds mtbf = scenario.node_mtbf / scenario.nodes;
  if (scenario.recovery > mtbf || job.commit_of_partner > mtbf) {
    throw UsageError(fmt::format(
        "a node of the job fails every {}, and a commit takes {} and a recovery {}: such a job makes no progress; use "
        "fewer nodes or commit less data",
        text_of(mtbf), text_of(job.commit_of_partner), text_of(scenario.recovery)));
  }
  return job;
}

/// The cost of a commit: its sending part grows with the amount of data sent.
Seconds commit_cost(const Job& job, const Redundancy& redundancy) {
  return job.commit_of_partner * (1 - job.sent_share + job.sent_share * sent_by_commit(redundancy));
}

/// `spares`: number of spare nodes; if negative, as many as `risk` requires.
Choice choice_of(const Job& job, const Redundancy& redundancy, int spares, double risk) {
  Choice choice{redundancy, job.scenario, {}, 0, true};
  choice.scenario.redundancy = redundancy;
  choice.scenario.commit_cost = commit_cost(job, redundancy);
  choice.scenario.spare_nodes = spares >= 0 ? spares : spares_for(choice.scenario, risk);
  choice.forecast = forecast(choice.scenario);
  choice.memory = versions * job.state * (1 + memory_for_others(redundancy));
  choice.fits = !job.memory || choice.memory <= *job.memory;
  return choice;
}

/// The choice of least overhead among those that fit into memory and lose data with at most probability `risk`; among
/// equals, the one of least memory. If there is none, the safest one that fits.
const Choice& best_of(const std::vector<Choice>& choices, double risk) {
  const auto rank = [&](const Choice& choice) {
    const bool safe = choice.forecast.data_loss <= risk;
    return std::tuple(!choice.fits, !safe,
                      safe ? std::round(choice.forecast.overhead * 1e4) : choice.forecast.data_loss, choice.memory);
  };
  return *std::ranges::min_element(choices, [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

std::string hours_or_never(Seconds time) {
  return time < std::chrono::hours(24 * 365 * 1000) ? text_of(time) : "never";  // also for NaN
}

struct Plan {
  Job job;
  std::vector<Choice> choices;
  Choice best;
  Choice with_disk;
  bool disk = false;

  const Choice& chosen() const { return disk ? with_disk : best; }
};

Plan plan_of(const PlanArguments& arguments) {
  Plan plan{job_of(arguments), {}, {}, {}, false};
  const double risk = parse_chance(arguments.risk);
  const int ranks = arguments.nodes * arguments.ranks_per_node;
  if (!arguments.redundancy.empty()) {
    const auto redundancy = Redundancy::parse(arguments.redundancy);
    redundancy.require_ranks(ranks);
    plan.choices.push_back(choice_of(plan.job, redundancy, arguments.spare_nodes, risk));
  } else {
    for (const char* name : {"local", "partner", "replicas:2", "xor:4", "xor:8", "rs:4+2", "rs:8+2"}) {
      const auto redundancy = Redundancy::parse(name);
      if (ranks >= redundancy.least_ranks())
        plan.choices.push_back(choice_of(plan.job, redundancy, arguments.spare_nodes, risk));
    }
  }
  plan.best = best_of(plan.choices, risk);
  plan.with_disk = plan.best;
  plan.with_disk.scenario.disk = Scenario::Disk{arguments.disk_every, plan.job.disk_cost};
  // Commits to disk make the job longer, and more nodes fail in it.
  if (arguments.spare_nodes < 0) plan.with_disk.scenario.spare_nodes = spares_for(plan.with_disk.scenario, risk);
  plan.with_disk.forecast = forecast(plan.with_disk.scenario);
  plan.disk = plan.with_disk.forecast.until_done < plan.best.forecast.until_done;
  return plan;
}

std::string command_line(const Plan& plan, const PlanArguments& arguments) {
  const Choice& chosen = plan.chosen();
  const std::string spare_nodes =
      chosen.scenario.spare_nodes > 0 ? fmt::format(" --spare-nodes {}", chosen.scenario.spare_nodes) : "";
  std::string line =
      fmt::format("mend run -n {}{} -- ./program --mend-redundancy {} --mend-commit-every auto --mend-mtbf {:.4g}",
                  arguments.nodes * arguments.ranks_per_node, spare_nodes, to_string(chosen.redundancy),
                  chosen.forecast.mtbf.count() / 3600);  // in hours
  if (plan.disk) line += fmt::format(" --mend-disk DIR,every={}", arguments.disk_every);
  return line;
}

Json json_of(const Forecast& forecast) {
  Json object{{"interval_s", forecast.interval.count()},
              {"elapsed_s", forecast.elapsed.count()},
              {"overhead", forecast.overhead},
              {"failures", forecast.failures},
              {"chance_out_of_spares", forecast.out_of_spares},
              {"chance_data_loss", forecast.data_loss}};
  // JSON has no infinity.
  object["until_done_s"] =
      std::isfinite(forecast.until_done.count()) ? Json(forecast.until_done.count()) : Json(nullptr);
  return object;
}

Json json_of(const Choice& choice) {
  Json object{{"redundancy", to_string(choice.redundancy)},
              {"spare_nodes", choice.scenario.spare_nodes},
              {"memory_bytes_per_rank", choice.memory},
              {"fits", choice.fits},
              {"commit_s", choice.scenario.commit_cost.count()}};
  object.update(json_of(choice.forecast));
  return object;
}

std::string json_of(const Plan& plan, const PlanArguments& arguments) {
  const Choice& chosen = plan.chosen();
  Json object{{"nodes", arguments.nodes},
              {"ranks", arguments.nodes * arguments.ranks_per_node},
              {"mtbf_s", chosen.forecast.mtbf.count()},
              {"recovery_s", chosen.scenario.recovery.count()},
              {"state_bytes_per_rank", plan.job.state}};
  object["plan"] = json_of(chosen);
  object["plan"]["disk"] = plan.disk;
  object["plan"]["spares"] = static_cast<long>(chosen.scenario.spare_nodes) * arguments.ranks_per_node;
  object["plan"]["command"] = command_line(plan, arguments);
  object["choices"] = Json::array();
  for (const Choice& choice : plan.choices) object["choices"].push_back(json_of(choice));
  object["without_disk"] = json_of(plan.best.forecast);
  object["with_disk"] = json_of(plan.with_disk.forecast);
  return object.dump(2) + "\n";
}

std::string table_of(const Plan& plan, const PlanArguments& arguments) {
  const Choice& chosen = plan.chosen();
  std::string text =
      fmt::format("{} nodes of {} ranks, {} of state a rank; {} of work; a node of the job fails every {}\n\n",
                  arguments.nodes, arguments.ranks_per_node, size_text(plan.job.state), text_of(plan.job.scenario.work),
                  text_of(chosen.forecast.mtbf));
  text += fmt::format("  {:<12}{:>8}{:>12}{:>11}{:>11}{:>11}{:>14}{:>13}\n", "redundancy", "spares", "mem./rank",
                      "a commit", "interval", "overhead", "out of spares", "data loss");
  for (const Choice& choice : plan.choices) {
    text += fmt::format("{} {:<12}{:>8}{:>12}{:>11}{:>11}{:>11}{:>14}{:>13}{}\n",
                        choice.redundancy == chosen.redundancy ? ">" : " ", to_string(choice.redundancy),
                        choice.scenario.spare_nodes, size_text(choice.memory), text_of(choice.scenario.commit_cost),
                        text_of(choice.forecast.interval), chance_text(choice.forecast.overhead),
                        chance_text(choice.forecast.out_of_spares), chance_text(choice.forecast.data_loss),
                        choice.fits ? "" : "  too large");
  }
  text += fmt::format("\n  {:<12}{:>8}{:>11}{:>24}\n", "", "spares", "overhead", "done on average after");
  for (const bool disk : {false, true}) {
    const Choice& choice = disk ? plan.with_disk : plan.best;
    text += fmt::format("{} {:<12}{:>8}{:>11}{:>24}\n", disk == plan.disk ? ">" : " ",
                        disk ? "with disk" : "without disk", choice.scenario.spare_nodes,
                        chance_text(choice.forecast.overhead), hours_or_never(choice.forecast.until_done));
  }
  text += fmt::format("\n{:.3g} failures are to be expected. Spares are whole nodes.\n\n  {}\n",
                      chosen.forecast.failures, command_line(plan, arguments));
  return text;
}

int print_plan(const PlanArguments& arguments) {
  const Plan plan = plan_of(arguments);
  const Choice& chosen = plan.chosen();
  if (!arguments.picture.empty()) {
    if (const auto kind = arguments.picture.extension(); kind == ".png" || kind == ".pdf" || kind == ".jpg")
      throw UsageError(
          fmt::format("--picture {} would be an SVG: name a file that ends with .svg", arguments.picture.string()));
    try {
      write_whole(arguments.picture, picture_of(chosen.scenario, chosen.forecast));
    } catch (const EnvironmentError& error) {
      throw UsageError(fmt::format("--picture {} cannot be written: {}", arguments.picture.string(), error.what()));
    }
  }
  std::fputs((arguments.json ? json_of(plan, arguments) : table_of(plan, arguments)).c_str(), stdout);
  const long processes = static_cast<long>(arguments.nodes + chosen.scenario.spare_nodes) * arguments.ranks_per_node;
  if (processes > most_processes) {
    say(fmt::format("the job has {} processes, and mend run starts at most {}: this is a plan on paper", processes,
                    most_processes));
  }
  const double risk = parse_chance(arguments.risk);
  const Forecast& forecast = chosen.forecast;
  const bool good = chosen.fits && forecast.out_of_spares <= risk && forecast.data_loss <= risk;
  if (!good)
    std::fprintf(stderr, "mend: no redundancy and number of spares that fit keep both chances within %s\n",
                 arguments.risk.c_str());
  return static_cast<int>(good ? ExitCode::ok : ExitCode::failed);
}

}  // namespace

void add_plan_command(CLI::App& mend, Action& chosen) {
  auto arguments = std::make_shared<PlanArguments>();
  auto* plan = mend.add_subcommand("plan", "Plan spares, redundancy and commit interval of a job");
  plan->footer(
      "Times: 250ms, 3s, 20min, 36h, 90d, 5y. Sizes: 500MB, 2GiB. Chances: 1%, 0.01.\n"
      "Example: mend plan --nodes 1000 --ranks-per-node 4 --node-mtbf 5y --state-per-rank 2GiB --length 24h\n\n"
      "docs/planning.md has the model. Exits with 0; with 1 when no choice keeps the chances of running out of\n"
      "spares and of losing data within --risk; with 2 for wrong arguments.");
  plan->add_option("--nodes", arguments->nodes, "Nodes that work, without spares")
      ->required()
      ->check(CLI::Range(1, 1'000'000));
  plan->add_option("--ranks-per-node", arguments->ranks_per_node, "Ranks on each")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  plan->add_option("--node-mtbf", arguments->node_mtbf, "Mean time between failures of one node")->required();
  plan->add_option("--length", arguments->length, "What the job takes when nothing fails")->required();
  plan->add_option("--state-per-rank", arguments->state, "What each rank protects");
  plan->add_option("--commit-cost", arguments->commit_cost,
                   "Time of a commit with redundancy partner; else from --measured, or\n"
                   "estimated from the state and the two speeds");
  plan->add_option("--measured", arguments->measured,
                   "The FILE of mend run --result FILE: a run whose state and commit cost count");
  plan->add_option("--network", arguments->network, "Bytes a second that a node sends")->capture_default_str();
  plan->add_option("--memory-speed", arguments->memory_speed, "Bytes a second that a rank copies and hashes")
      ->capture_default_str();
  plan->add_option("--detection", arguments->detection, "From a failure until it is known (--mend-timeout)")
      ->capture_default_str();
  plan->add_option("--recovery", arguments->recovery,
                   "From a failure until the data is back; else detection and the time of a commit");
  plan->add_option("--memory", arguments->memory, "The most that a rank may spend on committed data");
  plan->add_option("--redundancy", arguments->redundancy,
                   "Consider only this redundancy, in the form of --mend-redundancy")
      ->type_name(Redundancy::forms);
  plan->add_option("--spare-nodes", arguments->spare_nodes, "Number of spare nodes (default: as many as needed)")
      ->check(CLI::Range(0, 1'000'000));
  plan->add_option("--risk", arguments->risk, "Chance of running out of spares, and of losing data, that is accepted")
      ->capture_default_str();
  plan->add_option("--requeue", arguments->requeue, "From the end of a job until the next one has begun")
      ->capture_default_str();
  plan->add_option("--disk-every", arguments->disk_every, "With a disk: every N-th commit goes there")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  plan->add_option("--disk-cost", arguments->disk_cost,
                   "Additional time of a commit that goes to disk (default: one copy of the state)");
  plan->add_option("--picture", arguments->picture, "Draw the plan into this file (SVG)");
  plan->add_flag("--json", arguments->json, "Print the plan as JSON");
  plan->callback([arguments, &chosen] { chosen = [arguments] { return print_plan(*arguments); }; });
}

}  // namespace mend::jobs
