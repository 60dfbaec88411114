// The arguments of jobs/setup.sh, and which Open MPI it takes.

#include "jobs/doctor/checks.hpp"
#include "jobs/doctor/program.hpp"
#include "jobs/doctor/reproduction.hpp"
#include "tests/jobs/setup/scripts.hpp"
#include "tests/support/job.hpp"
#include "tests/support/scoped_environment.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using mend::jobs::ProgramEnd;
using support::content_of;
using support::script;
using support::write_program;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST(SetUp, says_in_a_sentence_which_open_mpi_it_cannot_take) {
  const support::ScratchFolder folder;
  const fs::path file = folder.path() / "text";
  std::ofstream(file) << "no archive\n";
  struct Case {
    std::vector<std::string> arguments;
    std::string sentence;
  };
  for (const Case& one : std::vector<Case>{
           {{"--open"}, "unknown argument '--open'; see --help"},
           {{"--open-mpi"}, "--open-mpi needs a prefix, a version, an archive of sources, or git"},
           {{"--open-mpi", "4.1.2"}, "mend needs Open MPI 5.0 or later, and this is 4.1.2"},
           {{"--open-mpi", "newest"},
            "'newest' is neither a prefix, nor an archive of sources, nor git, nor a version"},
           {{"--open-mpi", file.string()}, "has no sources of Open MPI"},
           {{"--open-mpi", folder.path().string()}, "cannot be used: it has no bin/ompi_info"},
           {{"--open-mpi", MEND_MPI_PREFIX, "--uncorrected"}, "--uncorrected is for an Open MPI that is built"}}) {
    const ProgramEnd end = script("setup.sh", one.arguments);
    EXPECT_EQ(end.exit_code, 2) << one.sentence;
    EXPECT_THAT(end.errors, HasSubstr(one.sentence));
  }
}

/// Runs `commands` in `folder`, with the functions of jobs/setup/openmpi.sh.
ProgramEnd with_functions_of_set_up(const fs::path& folder, const std::string& commands) {
  const std::string functions = R"(set -euo pipefail
cd "$1"
here=$2/jobs mend_prefix=$1/prefix build=$1/build
say() { echo "$*"; }
refuse() { echo "$1" >&2; exit 2; }
source "$here/setup/openmpi.sh"
)";
  return mend::jobs::run_program({"bash", "-c", functions + commands, "bash", folder.string(), MEND_SOURCE_DIR},
                                 std::chrono::seconds(60));
}

TEST(SetUp, builds_another_open_mpi_for_each_archive) {
  const support::ScratchFolder folder;
  const ProgramEnd end = with_functions_of_set_up(folder.path(), R"(mkdir x
for archive in one other; do
  printf 'major=5\nminor=0\nrelease=7\n# %s\n' $archive >x/VERSION
  tar --create --file $archive.tar x
done
echo "$openmpi_prefix"
for wanted in one.tar other.tar; do choose_openmpi; echo "$openmpi_prefix"; done
uncorrected=yes
for wanted in one.tar other.tar; do choose_openmpi; echo "$openmpi_prefix"; done)");
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  std::istringstream lines(end.output);
  std::set<std::string> prefixes;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_THAT(line, StartsWith((folder.path() / "prefix/openmpi-5.0.7-").string()));
    prefixes.insert(line);
  }
  EXPECT_EQ(prefixes.size(), 5) << end.output;
}

TEST(SetUp, takes_git_and_versions_for_what_they_are_where_folders_have_these_names) {
  const support::ScratchFolder folder;
  const ProgramEnd end = with_functions_of_set_up(folder.path(), R"(mkdir git 5.0.10
find_commit() { echo "commit of $1"; openmpi_commit=0123456789abcdef; }
for wanted in git git:v5.0.x; do choose_openmpi; done
openmpi_commit=
for wanted in 5.0.10 09.0.1; do choose_openmpi; echo "$openmpi_version"; done
wanted=./git
choose_openmpi)");
  EXPECT_EQ(end.output, "commit of main\ncommit of v5.0.x\n5.0.10\n09.0.1\n");
  EXPECT_EQ(end.errors, "./git cannot be used: it has no bin/ompi_info\n");
  EXPECT_EQ(end.exit_code, 2);
}

TEST(SetUp, asks_a_repository_that_does_not_answer_for_a_limited_time_and_asks_the_user_nothing) {
  const support::ScratchFolder folder;
  write_program(folder.path() / "bin/git",
                "[ \"$GIT_TERMINAL_PROMPT\" = 0 ] && exec sleep 300\necho 0123456789abcdef\n");
  const ProgramEnd end = with_functions_of_set_up(folder.path(), R"(PATH=$1/bin:$PATH
timeout() { command timeout "$1" 1 "${@:3}"; }  # sooner
wanted=git
choose_openmpi)");
  EXPECT_THAT(end.errors, HasSubstr("'git': the repository https://github.com/open-mpi/ompi.git cannot be reached"));
  EXPECT_EQ(end.exit_code, 2);
}

TEST(SetUp, builds_open_mpi_in_no_folder_whose_name_has_white_space) {
  const support::ScratchFolder folder;
  const ProgramEnd end = with_functions_of_set_up(folder.path(), R"(wanted=
fetch_openmpi() { echo "sources in $1"; exit; }
export TMPDIR=$1/temporary
mkdir "$TMPDIR"
(build=$1/'with space'; build_openmpi)
shopt -s nullglob
echo left behind: "$TMPDIR"/*
mend_prefix=$1/'with space'
plan_openmpi
build_openmpi)");
  EXPECT_THAT(end.output, HasSubstr("\nsources in " + (folder.path() / "temporary/mend-openmpi-").string()));
  EXPECT_THAT(end.output, EndsWith("\nleft behind:\n"));
  EXPECT_THAT(end.errors, StartsWith("Open MPI cannot be built in '" + (folder.path() / "with space/").string()));
  EXPECT_EQ(end.exit_code, 2);
}

TEST(SetUp, names_the_earlier_builds_of_the_same_kind) {
  const support::ScratchFolder folder;
  const ProgramEnd end = with_functions_of_set_up(folder.path(), R"(report_other_builds
mkdir -p prefix/openmpi-{5.0.7-{1,2}2345678,5.0.7-stock-32345678,5.0.10-42345678,git-{1,2}23456789012-52345678}
mkdir "$openmpi_prefix"
report_other_builds
openmpi_commit=223456789012345 openmpi_version=git-223456789012
plan_openmpi
report_other_builds
uncorrected=yes
plan_openmpi
report_other_builds)");
  const std::string begin =
      "earlier builds in " + (folder.path() / "prefix").string() + ", to remove if nothing uses them any more: ";
  EXPECT_EQ(end.output, begin + "openmpi-5.0.7-12345678 openmpi-5.0.7-22345678\n" + begin +
                            "openmpi-git-123456789012-52345678 openmpi-git-223456789012-52345678\n");
  EXPECT_EQ(end.exit_code, 0) << end.errors;
}

TEST(SetUp, is_what_mend_doctor_advises_with_the_version_that_all_corrections_fit) {
  const support::ScratchFolder folder;
  const ProgramEnd version = with_functions_of_set_up(folder.path(), "printf %s \"$tested_version\"");
  EXPECT_THAT(version.output, testing::MatchesRegex("[0-9]+[.][0-9]+[.][0-9]+"));
  mend::jobs::DoctorOptions options;
  options.mpirun = folder.path() / "bin/mpirun";
  write_program(options.mpirun, "echo 'mpirun (Open MPI) 5.0.7'\n");
  const auto lacking = mend::jobs::check_corrections(options);
  const auto shown =
      mend::jobs::findings_of(mend::jobs::reproductions_in("writers-may-die\tshown\t1\t0.1\ta crash\n"), true);
  for (const auto& findings : {lacking, shown}) {
    ASSERT_THAT(findings, Not(IsEmpty()));
    EXPECT_THAT(findings.back().remedy, HasSubstr("jobs/setup.sh --open-mpi " + version.output));
  }
}

/// An Open MPI that the set-up takes.
fs::path suitable_open_mpi(const fs::path& prefix, const std::string& release = "5.0.7") {
  for (const char* tool : {"ompi_info", "mpirun", "mpicxx"})
    write_program(prefix / "bin" / tool, "echo 'Open MPI v" + release + "'\necho 'FT MPI support: yes'\n");
  fs::create_directories(prefix / "include");
  std::ofstream(prefix / "include/pmix.h") << "\n";
  return prefix;
}

/// A checkout with the set-up alone, on a machine that has all packages, and an Open MPI on PATH.
class Checkout {
  support::ScratchFolder folder_;

 public:
  Checkout() {
    fs::create_directories(folder_ / "checkout/jobs");
    fs::copy(MEND_SOURCE_DIR "/jobs/setup.sh", folder_ / "checkout/jobs");
    fs::copy(MEND_SOURCE_DIR "/jobs/setup", folder_ / "checkout/jobs/setup", fs::copy_options::recursive);
    write_program(folder_ / "bin/dpkg-query", "for word; do echo \"installed $word\"; done\n");  // all packages
  }
  fs::path operator/(const std::string& name) const { return folder_ / name; }

  const std::string on_path = suitable_open_mpi(folder_ / "on-path");
  const std::string environment = folder_ / "checkout/build/environment.sh";

  /// Runs `commands` in a shell, for which the set-up is "$setup".
  ProgramEnd in_shell(const std::string& commands) const {
    return mend::jobs::run_program(
        {"env", "-u", "MPI_HOME", "-u", "MPI_HOME_OF_MEND", "-u", "CMAKE_PREFIX_PATH",
         "setup=" + (folder_ / "checkout/jobs/setup.sh").string(), "bash", "-c", "set -e\n" + commands},
        std::chrono::seconds(60));
  }
  /// Runs the set-up, after `before` in the same shell. Returns what it says.
  std::string set_up(const std::string& arguments = "", const std::string& before = ":") const {
    const ProgramEnd end = in_shell(before + "\nexec bash \"$setup\" " + arguments);
    EXPECT_EQ(end.exit_code, 0) << end.output << end.errors;
    return end.output;
  }

 private:
  support::ScopedEnvironment variables_{
      {"MEND_PREFIX", folder_ / "prefix"},
      {"PATH", (folder_ / "on-path/bin:").string() + (folder_ / "bin:").string() + std::getenv("PATH")}};
};

/// Of the last line of a set-up that has taken the Open MPI in `prefix`.
auto ready(const std::string& prefix) { return HasSubstr("set-up: ready, with Open MPI 5.0.7 in " + prefix + "\n"); }

TEST(SetUp, without_options_keeps_the_open_mpi_that_was_chosen) {
  const Checkout checkout;
  const std::string on_path = checkout.on_path;
  const std::string chosen = suitable_open_mpi(checkout / "chosen");
  const auto set_up = [&](const std::string& arguments, const std::string& before = ":") {
    return checkout.set_up(arguments, before);
  };
  const auto kept = HasSubstr("the Open MPI is that of an earlier --open-mpi or --uncorrected");
  EXPECT_THAT(set_up(""), AllOf(ready(on_path), Not(kept)));
  EXPECT_THAT(set_up("--open-mpi " + chosen), ready(chosen));
  EXPECT_THAT(set_up(""), AllOf(ready(chosen), kept));
  EXPECT_THAT(set_up("", "export MPI_HOME=" + chosen), ready(chosen)) << "the user has made the same choice";
  EXPECT_THAT(set_up(""), AllOf(ready(chosen), kept));
  EXPECT_THAT(content_of(checkout.environment), HasSubstr("MPI_HOME=" + chosen + "\n"));
  const std::string sourced = "source " + checkout.environment;
  EXPECT_THAT(set_up("", sourced + "\nrm " + checkout.environment), AllOf(ready(on_path), Not(kept)))
      << "that undoes the choice, also after source build/environment.sh";
  EXPECT_THAT(set_up("--open-mpi " + on_path), ready(on_path));
  EXPECT_THAT(set_up("", sourced + "\nbash \"$setup\" --open-mpi " + chosen), AllOf(Not(ready(on_path)), kept))
      << "after source build/environment.sh of another one";
  EXPECT_THAT(set_up(""), AllOf(ready(chosen), kept));
  fs::remove(fs::path(chosen) / "bin/mpirun");
  EXPECT_THAT(set_up(""), AllOf(ready(on_path), HasSubstr(chosen + ", which has no bin/mpirun; looking further")));
  suitable_open_mpi(chosen);
  EXPECT_THAT(set_up("--open-mpi " + chosen), ready(chosen));
  EXPECT_THAT(set_up("", "export MPI_HOME=" + on_path), ready(on_path)) << "this is a choice, too";
  EXPECT_THAT(set_up(""), AllOf(ready(on_path), Not(kept)));
}

TEST(SetUp, does_not_take_what_an_earlier_one_has_built_for_the_users_choice) {
  const Checkout checkout;
  const std::string earlier = suitable_open_mpi(checkout / "prefix/openmpi-5.0.7-12345678");
  const std::string older = suitable_open_mpi(checkout / "prefix/openmpi-5.0.7-02345678");
  const std::string as_sourced = "export MPI_HOME=" + earlier + " MPI_HOME_OF_MEND=" + earlier + " PATH=" + earlier +
                                 "/bin:" + older + "/bin:" + earlier + "/bin:$PATH";
  EXPECT_THAT(checkout.set_up("", as_sourced),
              AllOf(ready(checkout.on_path), HasSubstr("set-up: MPI_HOME is " + earlier + " because a build/env")));
  EXPECT_THAT(checkout.set_up("", "export MPI_HOME=" + earlier), ready(earlier)) << "this is the user's choice";
  // What the user has named is the user's after source build/environment.sh, too.
  const std::string sourced = "source " + checkout.environment;
  EXPECT_THAT(checkout.set_up("", sourced), ready(earlier));
  EXPECT_THAT(checkout.set_up(), ready(checkout.on_path));
  EXPECT_THAT(checkout.set_up("", sourced + "\n" + sourced), ready(checkout.on_path));
}

TEST(SetUp, says_what_the_open_mpi_that_it_takes_lacks) {
  const Checkout checkout;
  const fs::path corrections = fs::path(checkout.on_path) / "share/mend/corrections";
  std::vector<fs::path> patches;
  for (const auto& entry : fs::directory_iterator(MEND_SOURCE_DIR "/jobs/setup/patches"))
    if (entry.is_regular_file()) patches.push_back(entry.path());
  const std::string remedy = "mend's corrections: docs/open-mpi.md; --open-mpi 5.0.7 builds one with them\n";
  EXPECT_THAT(checkout.set_up(), HasSubstr(fmt::format("set-up: without {} of {}", patches.size(), remedy)));
  fs::create_directories(corrections);
  for (const fs::path& patch : patches) fs::copy(patch, corrections);
  EXPECT_THAT(checkout.set_up(), Not(HasSubstr("set-up: without")));
  fs::remove(corrections / patches.front().filename());
  EXPECT_THAT(checkout.set_up(), HasSubstr("set-up: without 1 of " + remedy));
  // Which ones another release needs, the set-up does not know.
  suitable_open_mpi(checkout.on_path, "5.0.10");
  EXPECT_THAT(checkout.set_up(), Not(HasSubstr("set-up: without")));
  fs::remove_all(corrections);
  EXPECT_THAT(checkout.set_up(), HasSubstr("set-up: without " + remedy));
}

TEST(SetUp, finds_the_folder_for_open_mpi_without_HOME_and_by_a_relative_name) {
  const Checkout checkout;
  const auto prefix_after = [&](const std::string& before) { return checkout.set_up("--help", before); };
  const std::string homeless = "unset HOME MEND_PREFIX XDG_DATA_HOME";
  EXPECT_THAT(prefix_after(homeless), HasSubstr("/.local/share/mend/openmpi-"));
  EXPECT_THAT(prefix_after("cd " + (checkout / "bin").string() + "; export MEND_PREFIX=../relative"),
              HasSubstr("\n" + (checkout / "relative/openmpi-").string()));
  write_program(checkout / "bin/getent", "exit 2\n");
  const ProgramEnd end = checkout.in_shell(homeless + "\nbash \"$setup\" --help");
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.errors, StartsWith("jobs/setup.sh: HOME is not set, and the system knows no home folder"));
}

TEST(SetUp, that_waits_for_another_one_leaves_its_log_alone) {
  const Checkout checkout;
  const ProgramEnd end = checkout.in_shell(R"(log=${setup%/jobs/setup.sh}/build/setup.log
mkdir -p "$MEND_PREFIX" "${log%/*}"
echo 'of the other one' >"$log"
exec 9>"$MEND_PREFIX/.lock"
flock 9
coproc bash "$setup" --uncorrected 9>&-
read -r line <&"${COPROC[0]}"
kill "$COPROC_PID"
echo "$line"
cat "$log")");
  EXPECT_EQ(end.output, "set-up: waiting for another set-up that is under way on this machine\nof the other one\n");
}

TEST(SetUp, says_in_a_sentence_what_is_wrong_with_a_repository) {
  const std::string url = "https://github.com/open-mpi/ompi.git";
  const support::ScratchFolder folder;
  const std::string repository = folder.path() / "repository";
  ASSERT_EQ(mend::jobs::run_program({"git", "init", "--quiet", repository}, std::chrono::seconds(20)).exit_code, 0);
  struct Case {
    std::string where;
    std::string wanted;
    std::string sentence;
  };
  for (const Case& one :
       {Case{repository, "git:nowhere", "'git:nowhere': " + url + " has no branch or tag nowhere"},
        Case{folder.path() / "nothing", "git", "'git': the repository " + url + " cannot be reached"}}) {
    const support::ScopedEnvironment other_place{{"GIT_CONFIG_COUNT", "1"},
                                                 {"GIT_CONFIG_KEY_0", "url." + one.where + ".insteadOf"},
                                                 {"GIT_CONFIG_VALUE_0", url}};
    const ProgramEnd end = script("setup.sh", {"--open-mpi", one.wanted});
    EXPECT_EQ(end.exit_code, 2) << one.sentence;
    EXPECT_THAT(end.errors, HasSubstr(one.sentence));
  }
}

}  // namespace
