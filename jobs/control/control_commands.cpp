// mend status, mend commit and mend stop: show the state of a running job, and send it requests.

#include "base/clock.hpp"
#include "base/error.hpp"
#include "jobs/commands.hpp"
#include "jobs/control/job_socket.hpp"
#include "jobs/control/job_state.hpp"
#include "jobs/say.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace mend::jobs {
namespace {

using nlohmann::json;

constexpr int ok = static_cast<int>(ExitCode::ok);
constexpr int failed = static_cast<int>(ExitCode::failed);

struct ControlArguments {
  std::vector<pid_t> job;  // none or one
  bool as_json = false;
  bool watch = false;
};

/// Returns the state of a job. Waits until the processes on other machines have answered, or until it is known that
/// some do not answer.
std::string present_state(pid_t job) {
  constexpr std::chrono::seconds patience{2};
  constexpr std::chrono::milliseconds pause{20};
  const std::uint32_t look = json::parse(ask(job, "look")).value("look", 0U);
  const auto until = Clock::now() + patience;
  for (;;) {
    std::string state = ask(job, "status");
    if (look == 0 || Clock::now() >= until) return state;
    const json now = json::parse(state);
    if (now["look"] >= look && now["awaited"] == 0) return state;
    std::this_thread::sleep_for(pause);
  }
}

std::string state_of(pid_t job, bool as_json) {
  const std::string state = present_state(job);
  return as_json ? state : to_text(json::parse(state));
}

int show(pid_t job, bool as_json) {
  fmt::print("{}", state_of(job, as_json));
  return ok;
}

/// Shows the state once a second, until the job has ended or the output cannot be written.
int watch(pid_t job, bool as_json) {
  show(job, as_json);
  while (std::fflush(stdout) == 0) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    try {
      const std::string state = state_of(job, as_json);
      if (::isatty(STDOUT_FILENO) == 1) fmt::print("\033[H\033[2J");
      fmt::print("{}", state);
    } catch (const UsageError&) {  // the job's mend run has ended
      if (!as_json) fmt::print("job {} has ended\n", job);
      return ok;
    }
  }
  return ok;  // nobody reads the output; main reports that
}

/// Shows all running jobs of the user. A job that does not answer is reported, and the others are shown.
int show_all(bool as_json) {
  json states = json::array();
  int code = ok;
  for (const pid_t job : known_jobs()) {
    try {
      states.push_back(json::parse(present_state(job)));
    } catch (const UsageError&) {  // it has ended
    } catch (const std::exception& error) {
      say(error.what());
      code = failed;
    }
  }
  if (as_json) {
    fmt::print("{}\n", states.dump());
  } else {
    for (const json& state : states) fmt::print("{}", to_text(state));
    if (states.empty() && code == ok) fmt::print("no job of yours runs on this machine\n");
  }
  return code;
}

int status(const ControlArguments& arguments) {
  if (arguments.job.empty()) {
    if (arguments.watch) throw UsageError("which job is to be watched? mend status lists those that run");
    return show_all(arguments.as_json);
  }
  return arguments.watch ? watch(arguments.job.front(), arguments.as_json)
                         : show(arguments.job.front(), arguments.as_json);
}

/// Sends a request, and prints whether it was accepted.
int request(pid_t job, const std::string& question) {
  const json answer = json::parse(ask(job, question));
  const bool taken = answer["taken"];
  const std::string sentence = answer["sentence"];
  if (taken) {
    std::puts(sentence.c_str());
  } else {
    say(sentence);
  }
  return taken ? ok : failed;
}

constexpr const char* who_may =
    "JOB is the process number of the job's mend run, as mend status lists it. Only who has started the job may ask,\n"
    "on the machine where its mend run is.\n\n"
    "Exits with 0; with 1 when the job does not answer or refuses; with 2 for wrong arguments, or when there is no\n"
    "such job.";

/// A number of a process. CLI11's own sentence for another word would name the largest floating-point number.
std::string check_job(const std::string& text) {
  pid_t job = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, job);
  if (error == std::errc{} && end == last && job > 0) return {};
  return fmt::format("'{}' is not a job: give the process number of its mend run, as mend status lists it", text);
}

void add_request(CLI::App& mend, Action& chosen, const char* name, const char* what) {
  auto job = std::make_shared<pid_t>(0);
  auto* command = mend.add_subcommand(name, what);
  command->footer(who_may);
  command->add_option("job", *job, "The job")->required()->check(CLI::Validator(check_job, "N"));
  command->callback([job, name, &chosen] { chosen = [job, name] { return request(*job, name); }; });
}

}  // namespace

void add_control_commands(CLI::App& mend, Action& chosen) {
  auto arguments = std::make_shared<ControlArguments>();
  auto* command = mend.add_subcommand("status", "Show a job that runs: its ranks, commits, and where each rank is");
  command->footer(who_may);
  command->add_option("job", arguments->job, "The job; none: all of yours on this machine")
      ->expected(0, 1)
      ->check(CLI::Validator(check_job, "N"));
  command->add_flag("--json", arguments->as_json, "As JSON, for scripts");
  command->add_flag("--watch", arguments->watch, "Again every second, until the job has ended");
  command->callback([arguments, &chosen] { chosen = [arguments] { return status(*arguments); }; });
  add_request(mend, chosen, "commit", "Have a job write its next commit to disk, due or not");
  add_request(mend, chosen, "stop", "Have a job leave at its next commit, which goes to disk (exit code 4)");
}

}  // namespace mend::jobs
