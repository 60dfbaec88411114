// mend report: tells what happened in a run, from its result file, and compares it with another.

#include "base/error.hpp"
#include "jobs/commands.hpp"
#include "jobs/report/result.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>

namespace mend::jobs {
namespace {

struct Arguments {
  std::filesystem::path result;
  std::filesystem::path reference;
};

int report(const Arguments& arguments) {
  const auto result = read_result(arguments.result);
  std::fputs(timeline(result).c_str(), stdout);
  if (arguments.reference.empty()) return static_cast<int>(ExitCode::ok);
  const auto found = differences(result, read_result(arguments.reference));
  if (found.empty()) {
    std::printf("  the same as %s, to the last bit\n", arguments.reference.c_str());
    return static_cast<int>(ExitCode::ok);
  }
  std::fflush(stdout);
  for (const auto& difference : found) {
    std::fprintf(stderr, "mend: differs from %s in %s\n", arguments.reference.c_str(), difference.c_str());
  }
  return static_cast<int>(ExitCode::failed);
}

}  // namespace

void add_report_command(CLI::App& mend, Action& chosen) {
  auto arguments = std::make_shared<Arguments>();
  auto* report_command = mend.add_subcommand("report", "Tell what happened in a run, from its result file");
  report_command->footer("Exits with 1 when the results differ.");
  report_command->add_option("FILE", arguments->result, "The file that mend run --result has named")->required();
  report_command->add_option("--same-as", arguments->reference,
                             "The result of another run, which this one must equal: what the program has\n"
                             "reported of its answer, to the last bit");
  report_command->callback([arguments, &chosen] { chosen = [arguments] { return report(*arguments); }; });
}

}  // namespace mend::jobs
