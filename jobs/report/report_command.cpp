// mend report: shows what happened in a run, from its result file and its traces, as text or as a page, and compares it
// with another run.

#include "base/error.hpp"
#include "base/files/whole_file.hpp"
#include "base/telemetry/json_text.hpp"
#include "jobs/commands.hpp"
#include "jobs/report/page.hpp"
#include "jobs/report/result.hpp"
#include "jobs/report/timeline.hpp"
#include "jobs/report/trace_files.hpp"
#include "jobs/report/trace_gaps.hpp"
#include "jobs/say.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

namespace mend::jobs {
namespace {

namespace fs = std::filesystem;

struct ReportArguments {
  std::vector<fs::path> files;
  fs::path reference;
  fs::path html;
  fs::path perfetto;
};

/// The content of the named files: at most one result, and any number of traces.
struct Inputs {
  nlohmann::json result;
  fs::path result_file;
  nlohmann::json events = nlohmann::json::array();
  std::vector<std::string> gaps;  ///< what the traces lack, in sentences
  std::string name;
};

Inputs read(const std::vector<fs::path>& files) {
  Inputs inputs;
  for (const fs::path& file : files) {
    std::error_code missing;
    if (fs::is_fifo(file, missing))
      throw UsageError(fmt::format("{} is a pipe, and is read more than once: name a file", file.string()));
    if (is_trace(file)) {
      for (nlohmann::json& event : read_trace(file)) inputs.events.push_back(std::move(event));
      if (inputs.name.empty()) inputs.name = fs::weakly_canonical(file).filename().string();
    } else if (inputs.result.is_null()) {
      inputs.result = read_result(file);
      inputs.result_file = file;
    } else {
      throw UsageError(fmt::format("{} is a second result: mend report takes one, and its traces", file.string()));
    }
  }
  if (!inputs.events.empty()) inputs.gaps = gaps_in(inputs.events);
  inputs.events = joined_launches(std::move(inputs.events));
  if (inputs.result.is_object() && inputs.result.contains("app") && inputs.result["app"].is_string())
    inputs.name = inputs.result["app"];
  return inputs;
}

/// Writes the file of `option`. Refuses to overwrite the files that are reported on.
void write(const char* option, const fs::path& file, const std::string& text, const ReportArguments& arguments) {
  std::error_code missing;
  for (const fs::path& input : arguments.files) {
    const bool is_in_folder = fs::equivalent(input, fs::absolute(file).parent_path(), missing) && is_trace(file);
    if (fs::equivalent(input, file, missing) || is_in_folder)
      throw UsageError(
          fmt::format("{} {} would overwrite what is reported on: name another file", option, file.string()));
  }
  try {
    write_whole(file, text);
  } catch (const EnvironmentError& error) {
    throw UsageError(fmt::format("{} {} cannot be written: {}", option, file.string(), error.what()));
  }
}

JobRecords records_of(const Inputs& inputs) {
  JobRecords job{inputs.name, std::nullopt, inputs.result, inputs.gaps};
  if (!inputs.events.empty()) job.timeline = timeline_of(parsed(inputs.events));
  return job;
}

int compare(const nlohmann::json& result, const fs::path& reference) {
  const nlohmann::json other = read_result(reference);
  if (!has_answer(result) && !has_answer(other)) {
    throw UsageError(fmt::format(
        "there is nothing to compare with {}: the program has reported no answer in either run (Session::report)",
        reference.string()));
  }
  const auto found = differences(result, other);
  if (found.empty()) {
    std::printf("  the same as %s, to the last bit\n", reference.c_str());
    return static_cast<int>(ExitCode::ok);
  }
  std::fflush(stdout);
  for (const auto& difference : found) {
    std::fprintf(stderr, "mend: differs from %s in %s\n", reference.c_str(), difference.c_str());
  }
  return static_cast<int>(ExitCode::failed);
}

int report_on(const Inputs& inputs, const ReportArguments& arguments) {
  if (!arguments.reference.empty() && inputs.result.is_null()) throw UsageError("--same-as compares results: name one");
  if (!arguments.perfetto.empty()) {
    if (inputs.events.empty()) throw UsageError("--perfetto needs traces: name the folder of --mend-trace");
    write("--perfetto", arguments.perfetto, json_text(for_perfetto(inputs.events)) + "\n", arguments);
  }
  if (!arguments.html.empty()) write("--html", arguments.html, page_of(page_model(records_of(inputs))), arguments);
  if (arguments.html.empty() && arguments.perfetto.empty()) {
    const bool has_result = inputs.result.is_object();
    const Timeline traced = inputs.events.empty() ? Timeline{} : timeline_of(parsed(inputs.events));
    std::fputs(timeline(has_result ? with_rollbacks(inputs.result, traced) : as_result(inputs.name, traced)).c_str(),
               stdout);
  }
  return arguments.reference.empty() ? static_cast<int>(ExitCode::ok) : compare(inputs.result, arguments.reference);
}

int report(const ReportArguments& arguments) {
  const Inputs inputs = read(arguments.files);
  for (const std::string& gap : inputs.gaps) say(gap);
  try {
    return report_on(inputs, arguments);
  } catch (const nlohmann::json::exception& error) {
    throw not_a_result(inputs.result_file.string(), error);
  }
}

}  // namespace

void add_report_command(CLI::App& mend, Action& chosen) {
  auto arguments = std::make_shared<ReportArguments>();
  auto* report_command =
      mend.add_subcommand("report", "Tell what happened in a run, from its result file and its traces");
  report_command->footer(
      "Prints a table of the recoveries, or writes what --html and --perfetto name.\n\n"
      "Exits with 0; with 1 when the results differ (--same-as), or the output could not be written; with 2 for wrong\n"
      "arguments, and for files that cannot be read, written or understood.");
  report_command
      ->add_option("FILE", arguments->files,
                   "The file that mend run --result has named; traces: the folder of --mend-trace, or files in it")
      ->required();
  report_command
      ->add_option("--html", arguments->html,
                   "Write a page for a browser: a timeline of each rank, the recoveries, what commits cost.\n"
                   "It is one file and needs no network")
      ->type_name("PAGE");
  report_command
      ->add_option("--perfetto", arguments->perfetto,
                   "Write all traces into one file, which ui.perfetto.dev and chrome://tracing open")
      ->type_name("TRACE");
  report_command->add_option("--same-as", arguments->reference,
                             "The result of another run, which this one must equal: what the program has\n"
                             "reported of its answer, to the last bit");
  report_command->callback([arguments, &chosen] { chosen = [arguments] { return report(*arguments); }; });
}

}  // namespace mend::jobs
