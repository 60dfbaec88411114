// Help, version, man pages and completion, all made from the same description.

#include "tests/jobs/mend_process.hpp"
#include "tests/support/job.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string printed(const std::vector<std::string>& arguments) {
  MendProcess process(arguments);
  EXPECT_EQ(process.wait(), 0) << process.errors();
  EXPECT_THAT(process.errors(), IsEmpty());
  return process.output();
}

/// The commands that mend --help lists.
std::vector<std::string> commands() {
  std::istringstream help(printed({"--help"}));
  std::vector<std::string> found;
  bool listed = false;
  for (std::string line; std::getline(help, line);) {
    if (line == "Subcommands:") {
      listed = true;
    } else if (listed && line.starts_with("  ") && line[2] != ' ') {
      found.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  EXPECT_GE(found.size(), 7U);
  return found;
}

TEST(MendHelp, is_there_on_every_level_and_says_how_a_command_exits) {
  for (const std::string& command : commands()) EXPECT_THAT(printed({command, "--help"}), HasSubstr("--help"));
  for (const char* command : {"run", "status", "commit", "stop", "report", "plan", "doctor", "script", "simulate"})
    EXPECT_THAT(printed({command, "--help"}), HasSubstr("Exits with"));
  EXPECT_TRUE(printed({"--version"}).starts_with("mend "));
}

TEST(MendMan, has_a_page_for_each_command_and_the_installed_are_all_of_them) {
  EXPECT_THAT(printed({"man"}), AllOf(HasSubstr(".TH MEND 1"), HasSubstr("mend\\-plan")));
  for (const std::string& command : commands()) {
    const std::string page = printed({"man", command});
    EXPECT_THAT(page, AllOf(HasSubstr(".SH NAME\nmend\\-" + command + " "), HasSubstr(".SH OPTIONS")));
    std::ifstream installed(std::filesystem::path(MEND_MANUAL) / ("mend-" + command + ".1"));
    std::ostringstream text;
    text << installed.rdbuf();
    EXPECT_EQ(text.str(), page) << "add it to MEND_COMMANDS in jobs/manual/CMakeLists.txt";
  }
  EXPECT_THAT(printed({"man", "plan"}), HasSubstr("\\fB\\-\\-node\\-mtbf\\fR"));
}

TEST(MendMan, refuses_a_command_that_there_is_not) {
  MendProcess process({"man", "fly"});
  EXPECT_EQ(process.wait(), 2);
  EXPECT_THAT(process.errors(), HasSubstr("fly is not a command of mend"));
}

/// The completions that bash offers after these words.
std::string offered(const std::string& script, const std::string& words, int at) {
  const support::JobEnd end =
      support::run_job({.command = {"bash", "-c",
                                    script + "\nCOMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(at) +
                                        "; _mend; echo \" ${COMPREPLY[*]} \""},
                        .environment = {},
                        .deadline = std::chrono::seconds(20),
                        .on_output = {}});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  return end.output;
}

TEST(MendCompletion, offers_commands_and_their_options_in_bash) {
  const std::string script = printed({"completion", "bash"});
  EXPECT_THAT(offered(script, "mend p", 1), AllOf(HasSubstr(" plan "), Not(HasSubstr(" run "))));
  EXPECT_THAT(offered(script, "mend plan --no", 2), AllOf(HasSubstr(" --nodes "), HasSubstr(" --node-mtbf ")));
  EXPECT_THAT(offered(script, "mend run --sp", 2), HasSubstr(" --spares "));
  EXPECT_EQ(offered(script, "mend run -- ./a --sp", 4), "  \n") << "the program's own";
}

TEST(MendCompletion, does_not_offer_what_help_hides) {
  EXPECT_THAT(printed({"completion", "bash"}), Not(HasSubstr("slurm-agent")));
  EXPECT_THAT(printed({"completion", "zsh"}), Not(HasSubstr("slurm-agent")));
  EXPECT_THAT(printed({"man"}), Not(HasSubstr("slurm\\-agent")));
}

TEST(MendCompletion, describes_every_option_for_zsh) {
  const std::string script = printed({"completion", "zsh"});
  EXPECT_TRUE(script.starts_with("#compdef mend\n"));
  EXPECT_THAT(script, AllOf(HasSubstr("'--spares[Processes that wait"), HasSubstr("'plan:Plan spares")));
  if (std::filesystem::exists("/usr/bin/zsh")) {
    const support::ScratchFolder scratch;
    std::ofstream(scratch.path() / "_mend") << script;
    const std::string file = scratch.path() / "_mend";
    const auto end = support::run_job(
        {.command = {"zsh", "-n", file}, .environment = {}, .deadline = std::chrono::seconds(20), .on_output = {}});
    EXPECT_EQ(end.exit_code, 0) << end.errors;
  }
}

}  // namespace
