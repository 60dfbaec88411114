// Help, version, man pages and completion, all made from the same description.

#include "tests/support/mend_process.hpp"
#include "tests/support/job.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

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

/// The page that the build has made for installation.
std::string built_page(const std::string& name) {
  std::ifstream file(std::filesystem::path(MEND_MANUAL) / (name + ".1"));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
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

TEST(MendHelp, names_the_program_where_a_command_takes_one) {
  for (const std::string& command : commands()) {
    const bool takes_one = command == "run" || command == "script";
    EXPECT_EQ(printed({command, "--help"}).find("-- PROGRAM [ARGUMENTS...]\n") != std::string::npos, takes_one);
    EXPECT_EQ(printed({"man", command}).find("\\-\\- \\fIprogram\\fR [\\fIarguments\\fR...]\n") != std::string::npos,
              takes_one)
        << command;
  }
}

TEST(MendMan, has_a_page_for_each_command_and_the_installed_are_all_of_them) {
  EXPECT_THAT(printed({"man"}), AllOf(HasSubstr(".TH MEND 1"), HasSubstr("mend\\-plan")));
  for (const std::string& command : commands()) {
    const std::string page = printed({"man", command});
    EXPECT_THAT(page, AllOf(HasSubstr(".SH NAME\nmend\\-" + command + " "), HasSubstr(".SH OPTIONS")));
    EXPECT_EQ(built_page("mend-" + command), page) << "add it to MEND_COMMANDS in jobs/manual/CMakeLists.txt";
  }
  EXPECT_THAT(printed({"man", "plan"}), HasSubstr("\\fB\\-\\-node\\-mtbf\\fR"));
}

/// What the page of a command says after its name.
std::string synopsis(const std::string& command) {
  const std::string page = printed({"man", command});
  const std::string head = ".SH SYNOPSIS\n\\fBmend " + command + "\\fR ";
  const std::size_t begin = page.find(head);
  if (begin == std::string::npos) return "no synopsis in: " + page;
  return page.substr(begin + head.size(), page.find('\n', begin + head.size()) - begin - head.size());
}

TEST(MendMan, has_arguments_that_may_be_left_out_in_brackets_as_help_has) {
  EXPECT_EQ(synopsis("status"), "[\\fIoptions\\fR] [\\fIjob\\fR]");
  EXPECT_THAT(printed({"status", "--help"}), HasSubstr("[OPTIONS] [job]\n"));
  EXPECT_EQ(synopsis("man"), "[\\fIoptions\\fR] [\\fIcommand\\fR]");
  EXPECT_EQ(synopsis("stop"), "[\\fIoptions\\fR] \\fIjob\\fR");
  EXPECT_THAT(printed({"stop", "--help"}), HasSubstr("[OPTIONS] job\n"));
  EXPECT_EQ(synopsis("report"), "[\\fIoptions\\fR] \\fIFILE\\fR...");
  EXPECT_THAT(printed({"report", "--help"}), HasSubstr("[OPTIONS] FILE...\n"));
}

TEST(MendMan, has_a_page_for_each_simulation) {
  if (!MEND_HAS_SIMULATIONS) GTEST_SKIP() << "built without benchmarks";
  EXPECT_THAT(printed({"man", "simulate"}), HasSubstr("see \\fBmend\\-simulate\\-agreement\\fR(1)"));
  for (const std::string subject : {"agreement", "detector", "recovery", "rollback"}) {
    const std::string page = printed({"man", "simulate-" + subject});
    EXPECT_THAT(page, AllOf(HasSubstr(".SH NAME\nmend\\-simulate\\-" + subject + " "), HasSubstr("\\-\\-")));
    EXPECT_EQ(built_page("mend-simulate-" + subject), page);
  }
  EXPECT_THAT(printed({"man", "simulate-recovery"}), HasSubstr("\\-\\-found\\-by"));
}

TEST(MendMan, has_a_page_for_each_mini_app) {
  if (!MEND_HAS_PAGES_OF_APPS) GTEST_SKIP() << "built without mini-apps, or for CUDA";
  const std::string stencil = printed({"man", "stencil"});
  EXPECT_THAT(stencil, AllOf(HasSubstr(".TH STENCIL 1 "), HasSubstr(".SH NAME\nstencil \\- Heat spreading"),
                             HasSubstr(".SH SYNOPSIS\n\\fBstencil\\fR [\\fIoptions\\fR]\n"),
                             HasSubstr(".SH DESCRIPTION\nThe run survives"), HasSubstr("\\fB\\-\\-courant\\fR"),
                             HasSubstr("\\fB\\-\\-kill\\fR"), HasSubstr("\\fB\\-\\-mend\\-redundancy\\fR")));
  EXPECT_EQ(built_page("stencil"), stencil);
  const std::string minife = printed({"man", "minife"});
  EXPECT_THAT(minife, AllOf(HasSubstr(".TH MINIFE 1 "), HasSubstr(".SH NAME\nminife \\- Heat in a box"),
                            HasSubstr("\\fB\\-\\-nx\\fR \\fIN=24\\fR\n"), HasSubstr("mend run \\-n 4 ")));
  EXPECT_EQ(built_page("minife"), minife);
}

TEST(MendMan, says_where_a_mini_app_comes_from_that_is_not_beside_the_command) {
  const support::ScratchFolder scratch;
  const std::filesystem::path alone = scratch.path() / "mend";
  std::filesystem::copy_file(MEND_COMMAND, alone);
  const support::JobEnd end = support::run_job({.command = {alone.string(), "man", "stencil"},
                                                .environment = {},
                                                .deadline = std::chrono::seconds(20),
                                                .on_output = {}});
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_EQ(end.output, "");
  EXPECT_THAT(end.errors, AllOf(HasSubstr("/stencil does not describe itself (exit code 127); it comes with mend's")));
}

TEST(MendMan, refuses_a_command_that_there_is_not) {
  MendProcess process({"man", "fly"});
  EXPECT_EQ(process.wait(), 2);
  EXPECT_THAT(process.errors(), HasSubstr("fly is not a command of mend"));
}

/// What a shell prints that must succeed.
std::string output_of(std::vector<std::string> command) {
  const support::JobEnd end = support::run_job(
      {.command = std::move(command), .environment = {}, .deadline = std::chrono::seconds(20), .on_output = {}});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  return end.output;
}

/// The completions that bash offers after these words.
std::string offered(const std::string& script, const std::string& words, int at) {
  return output_of({"bash", "-c",
                    script + "\nCOMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(at) +
                        "; _mend; echo \" ${COMPREPLY[*]} \""});
}

TEST(MendCompletion, offers_commands_and_their_options_in_bash) {
  const std::string script = printed({"completion", "bash"});
  EXPECT_THAT(offered(script, "mend p", 1), AllOf(HasSubstr(" plan "), Not(HasSubstr(" run "))));
  EXPECT_THAT(offered(script, "mend plan --no", 2), AllOf(HasSubstr(" --nodes "), HasSubstr(" --node-mtbf ")));
  EXPECT_THAT(offered(script, "mend run --sp", 2), HasSubstr(" --spares "));
  EXPECT_EQ(offered(script, "mend simulate --a", 2), " --all-figures \n");
  EXPECT_EQ(offered(script, "mend run -- ./a --sp", 4), "  \n") << "the program's own";
}

TEST(MendCompletion, offers_the_words_that_options_and_arguments_take_in_bash) {
  const std::string script = printed({"completion", "bash"});
  EXPECT_EQ(offered(script, "mend run --on-term ''", 3), " checkpoint kill \n");
  EXPECT_THAT(offered(script, "mend run --network ''", 3), AllOf(HasSubstr(" uct "), HasSubstr(" lo ")));
  EXPECT_EQ(offered(script, "mend run --network tcp,of", 3), " tcp,ofi \n");
  EXPECT_EQ(offered(script, "mend run --on-term = che", 4), " checkpoint \n") << "--on-term=che";
  EXPECT_THAT(offered(script, "mend script ''", 2), HasSubstr(" flux lsf pbs slurm "));
  EXPECT_EQ(offered(script, "mend completion z", 2), " zsh \n");
  EXPECT_EQ(offered(script, "mend man simulate-r", 2), " simulate-recovery simulate-rollback \n");
  EXPECT_EQ(offered(script, "mend man mini", 2), " minife \n");
  EXPECT_EQ(offered(script, "mend doctor --only limits,sp", 3), " limits,spawn \n");
  EXPECT_EQ(offered(script, "mend plan --redundancy rep", 3), " replicas: \n");
}

TEST(MendCompletion, offers_the_options_of_mend_after_a_program_in_bash) {
  const std::string script = printed({"completion", "bash"});
  EXPECT_EQ(offered(script, "mend run -n 4 -- ./a --mend-red", 6), " --mend-redundancy \n");
  EXPECT_EQ(offered(script, "mend run -n 4 -- ./a --mend-redundancy ''", 7), " partner replicas: xor: rs: local \n");
  EXPECT_EQ(offered(script, "mend run -n 4 ./a --mend-on-failure = spare,sh", 7), " spare,shrink \n");
  EXPECT_EQ(offered(script, "mend run -n 4 ./a --mend-agreement e", 6), " era \n");
}

TEST(MendCompletion, offers_what_the_simulations_take_in_bash) {
  if (!MEND_HAS_SIMULATIONS) GTEST_SKIP() << "built without benchmarks";
  const std::string script = printed({"completion", "bash"});
  EXPECT_THAT(offered(script, "mend simulate ''", 2), HasSubstr(" agreement detector recovery rollback "));
  EXPECT_EQ(offered(script, "mend simulate detector --figure ring-e", 4), " ring-equation-1 \n");
  EXPECT_EQ(offered(script, "mend simulate recovery --found-by ''", 4), " told silence \n");
  EXPECT_EQ(offered(script, "mend simulate agreement --lat", 3), " --latency \n");
}

TEST(MendCompletion, does_not_offer_what_help_hides) {
  EXPECT_THAT(printed({"completion", "bash"}), Not(HasSubstr("slurm-agent")));
  EXPECT_THAT(printed({"completion", "zsh"}), Not(HasSubstr("slurm-agent")));
  EXPECT_THAT(printed({"man"}), Not(HasSubstr("slurm\\-agent")));
}

/// What the script has zsh choose from; zsh's own functions, which need a terminal, print what they are given.
std::string choice_in_zsh(const std::string& script, const std::string& words, int current) {
  return output_of({"zsh", "-f", "-c",
                    "compdef() { :; }\n_arguments() { print -rl -- $@; }\n_describe() { print -r commands; }\n" +
                        script + "\nwords=(" + words + "); CURRENT=" + std::to_string(current) + "; _mend"});
}

TEST(MendCompletion, chooses_by_the_words_before_in_zsh) {
  if (!std::filesystem::exists("/usr/bin/zsh")) GTEST_SKIP() << "zsh is not installed";
  const std::string script = printed({"completion", "zsh"});
  EXPECT_EQ(choice_in_zsh(script, "mend p", 2), "commands\n");
  EXPECT_THAT(choice_in_zsh(script, "mend run --sp", 3), HasSubstr("\n--spares["));
  EXPECT_THAT(choice_in_zsh(script, "mend run -n 4 --mend-red", 5), HasSubstr("\n--mend-redundancy["));
  EXPECT_THAT(choice_in_zsh(script, "mend run -n 4 --mend-redundancy ''", 6), HasSubstr("\n--mend-redundancy["));
  EXPECT_THAT(choice_in_zsh(script, "mend run -n 4 -- ./a --sp", 7), Not(HasSubstr("--spares[")))
      << "the program's own";
  EXPECT_EQ(choice_in_zsh(script, "mend simulate d", 3).find("agreement") == std::string::npos, !MEND_HAS_SIMULATIONS);
}

TEST(MendCompletion, describes_every_option_for_zsh) {
  const std::string script = printed({"completion", "zsh"});
  EXPECT_TRUE(script.starts_with("#compdef mend\n"));
  EXPECT_THAT(script, AllOf(HasSubstr("'--spares[Processes that wait"), HasSubstr("'plan:Plan spares"),
                            HasSubstr("'--all-figures[")));
  if (std::filesystem::exists("/usr/bin/zsh")) {
    const support::ScratchFolder scratch;
    std::ofstream(scratch.path() / "_mend") << script;
    const std::string file = scratch.path() / "_mend";
    output_of({"zsh", "-n", file});
  }
}

}  // namespace
