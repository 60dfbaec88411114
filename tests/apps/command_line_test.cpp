#include "apps/common/command_line.hpp"

#include "base/error.hpp"
#include "tests/support/scratch_folder.hpp"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace {

using testing::HasSubstr;

struct Parsed {
  apps::CommonOptions options;
  std::optional<int> exit_code;
  std::string out;
  std::string err;
};

Parsed parse(std::vector<std::string> arguments, const std::function<void()>& check = {}) {
  Parsed parsed;
  CLI::App app("An application.", "demo");
  apps::add_common_options(app, parsed.options);
  arguments.insert(arguments.begin(), "demo");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  parsed.exit_code = apps::parse_command_line(app, static_cast<int>(argv.size()), argv.data(), check);
  parsed.out = testing::internal::GetCapturedStdout();
  parsed.err = testing::internal::GetCapturedStderr();
  return parsed;
}

void expect_refused(const std::vector<std::string>& arguments, const std::string& because) {
  const Parsed parsed = parse(arguments);
  SCOPED_TRACE(testing::PrintToString(arguments));
  EXPECT_EQ(parsed.exit_code, 2);
  EXPECT_THAT(parsed.err, HasSubstr(because));
  EXPECT_THAT(parsed.err, testing::StartsWith("demo: "));
  EXPECT_EQ(std::count(parsed.err.begin(), parsed.err.end(), '\n'), 1) << parsed.err;
  EXPECT_EQ(parsed.out, "");
}

TEST(CommandLine, fills_the_options) {
  const support::ScratchFolder folder;
  const Parsed parsed = parse({"--steps", "60", "--commit-every", "5", "--kill", "2@20", "--kill", "0@40:halo",
                               "--result", (folder / "a.json").string(), "--plot", (folder / "a.png").string()});
  ASSERT_EQ(parsed.exit_code, std::nullopt) << parsed.err;
  EXPECT_EQ(parsed.options.steps, 60);
  EXPECT_EQ(parsed.options.mend.commit_every.steps, 5);
  ASSERT_EQ(parsed.options.kills.size(), 2u);
  EXPECT_EQ(parsed.options.kills[0], apps::parse_kill_order("2@20"));
  EXPECT_EQ(parsed.options.kills[1], apps::parse_kill_order("0@40:halo"));
  EXPECT_EQ(parsed.options.result, folder / "a.json");
  EXPECT_EQ(parsed.options.plot, folder / "a.png");
  EXPECT_EQ(parsed.out + parsed.err, "");
}

TEST(CommandLine, takes_auto_for_the_commit_interval) {
  const Parsed parsed = parse({"--commit-every", "auto"});
  EXPECT_EQ(parsed.exit_code, std::nullopt);
  EXPECT_EQ(parsed.options.mend.commit_every.steps, std::nullopt);
}

TEST(CommandLine, does_not_mistake_a_flag_for_the_value_that_was_forgotten) {
  expect_refused({"--mend-disk", "--steps", "5"}, "--mend-disk: a value is missing: --steps follows instead");
  expect_refused({"--result", "--steps", "5"}, "--result: a value is missing: --steps follows instead");
  expect_refused({"--steps", "--result"}, "--steps: a value is missing: --result follows instead");
  EXPECT_FALSE(std::filesystem::exists("--steps"));
}

TEST(CommandLine, leaves_the_defaults_alone) {
  const Parsed parsed = parse({});
  EXPECT_EQ(parsed.exit_code, std::nullopt);
  EXPECT_EQ(parsed.options.steps, 100);
  EXPECT_TRUE(parsed.options.kills.empty());
  EXPECT_TRUE(parsed.options.result.empty());
}

TEST(CommandLine, wrong_arguments_get_one_sentence_and_exit_code_2) {
  expect_refused({"--steps", "-1"}, "cannot be negative");
  expect_refused({"--steps", "many"}, "--steps");
  expect_refused({"--commit-every", "0"}, "--commit-every");
  expect_refused({"--commit-every", "-3"}, "--commit-every");
  expect_refused({"--commit-every", "often"}, "often");
  expect_refused({"--kill", "2"}, "RANK@STEP");
  expect_refused({"--kill", "2@20", "--kill", "x@1"}, "\"x@1\"");
  expect_refused({"--kill", "2@20", "3@20"}, "3@20");
  expect_refused({"--kill"}, "--kill");
  expect_refused({"--result", "/nonexistent/folder/a.json"}, "no folder /nonexistent/folder");
  expect_refused({"--result", "/"}, "is a folder");
  expect_refused({"--plot", "/nonexistent/a.png"}, "no folder");
  expect_refused({"--evidence", "/proc/evidence"}, "cannot be made");
  expect_refused({"--unheard-of"}, "--unheard-of");
  expect_refused({"stray"}, "stray");
}

TEST(CommandLine, options_that_do_not_go_together_are_refused_alike) {
  const Parsed parsed = parse({}, [] { throw mend::UsageError("these do not go together"); });
  EXPECT_EQ(parsed.exit_code, 2);
  EXPECT_THAT(parsed.err, HasSubstr("demo: these do not go together"));
}

TEST(CommandLine, help_names_every_option_and_ends_well) {
  const Parsed parsed = parse({"--help"});
  EXPECT_EQ(parsed.exit_code, 0);
  for (const char* option : {"--steps", "--commit-every", "--kill", "--result", "--evidence", "--plot"}) {
    EXPECT_THAT(parsed.out, HasSubstr(option));
  }
  EXPECT_EQ(parsed.err, "");
}

TEST(CommandLine, is_described_as_json_on_request) {
  const Parsed parsed = parse({"--mend-describe"}, [] { throw mend::UsageError("nothing is to be checked"); });
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_EQ(parsed.err, "");
  const auto description = nlohmann::json::parse(parsed.out);
  EXPECT_EQ(description.at("name"), "demo");
  EXPECT_EQ(description.at("text"), "An application.");
  std::vector<std::string> flags;
  for (const auto& option : description.at("options"))
    for (const auto& flag : option.at("flags")) flags.push_back(flag.get<std::string>());
  EXPECT_THAT(flags, testing::IsSupersetOf({"--help", "--steps", "--kill", "--mend-redundancy"}));
  EXPECT_THAT(flags, testing::Not(testing::Contains("--mend-describe")));
  expect_refused({"--mend-describe", "--steps", "5"}, "--mend-describe");
  expect_refused({"--steps", "5", "--mend-describe"}, "--mend-describe");
}

TEST(CommandLine, only_the_first_process_speaks) {
  setenv("PMIX_RANK", "3", 1);
  const Parsed help = parse({"--help"});
  const Parsed wrong = parse({"--steps", "-1"});
  unsetenv("PMIX_RANK");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.out, "");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_EQ(wrong.err, "");
}

TEST(CommandLine, the_evidence_of_an_earlier_run_is_removed_and_nothing_else) {
  const support::ScratchFolder folder;
  std::ofstream(folder / "rank-0.json") << "{}";
  std::ofstream(folder / "notes.txt") << "mine";
  EXPECT_EQ(parse({"--evidence", folder.path().string()}).exit_code, std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(folder / "rank-0.json"));
  EXPECT_TRUE(std::filesystem::exists(folder / "notes.txt"));
}

}  // namespace
