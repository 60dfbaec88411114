// jobs/corrections.sh, which tries a library's defects one by one, and the arguments of jobs/setup.sh.

#include "jobs/doctor/checks.hpp"
#include "jobs/doctor/corrections.hpp"
#include "jobs/doctor/program.hpp"
#include "jobs/doctor/reproduction.hpp"
#include "tests/support/mend_process.hpp"
#include "tests/support/job.hpp"
#include "tests/support/long_tests.hpp"
#include "tests/support/scoped_environment.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using mend::jobs::Correction;
using mend::jobs::corrections;
using mend::jobs::ProgramEnd;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

ProgramEnd script(const char* name, std::vector<std::string> arguments,
                  std::chrono::seconds limit = std::chrono::seconds(60)) {
  arguments.insert(arguments.begin(), {std::string("bash"), fmt::format("{}/jobs/{}", MEND_SOURCE_DIR, name)});
  return mend::jobs::run_program(arguments, limit);
}

void write_program(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << "#!/bin/sh\n" << text;
  fs::permissions(file, fs::perms::owner_all);
}

/// The reproducers by the names of their corrections.
std::map<std::string, fs::path> reproducers() {
  std::map<std::string, fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(MEND_SOURCE_DIR "/jobs/setup/reproducers")) {
    const std::string extension = entry.path().extension();
    if (extension == ".c" || extension == ".sh") files[entry.path().stem()] = entry.path();
  }
  return files;
}

std::string content_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The line of a table that begins with `name`.
std::string line_of(const std::string& table, const std::string& name) {
  const auto at = table.find("\n" + name);
  return at == std::string::npos ? "" : table.substr(at + 1, table.find('\n', at + 1) - at - 1);
}

TEST(Reproducers, are_there_for_each_correction_and_for_nothing_else) {
  std::map<std::string, fs::path> files = reproducers();
  for (const Correction& correction : corrections())
    EXPECT_EQ(files.erase(std::string(correction.name)), 1) << correction.name;
  EXPECT_THAT(files, IsEmpty());
}

TEST(Reproducers, say_what_is_defective_and_how_long_they_take) {
  for (const auto& [name, file] : reproducers()) {
    const std::string text = content_of(file);
    const std::string comment = file.extension() == ".c" ? "// " : "# ";
    EXPECT_THAT(text, HasSubstr(comment + name + "\n")) << file;
    EXPECT_THAT(text, HasSubstr("Open MPI 5.0")) << file << ": which versions have it";
    EXPECT_THAT(text, HasSubstr("\n" + comment + "runs: ")) << file;
    EXPECT_THAT(text, HasSubstr("\n" + comment + "limit: ")) << file;
    EXPECT_TRUE(file.extension() == ".sh" || text.find("\n// processes: ") != std::string::npos) << file;
  }
}

TEST(Reproducers, end_within_the_time_that_mend_doctor_gives_them) {
  constexpr std::chrono::seconds to_compile{30};
  const auto number_in = [](const std::string& text, const std::string& key) {
    const auto at = text.find(key);
    return at == std::string::npos ? 1 : std::stoi(text.substr(at + key.size()));
  };
  for (const auto& [name, file] : reproducers()) {
    const std::string text = content_of(file);
    const std::chrono::seconds most(number_in(text, " runs: ") * number_in(text, " limit: "));
    EXPECT_LE(most + to_compile, mend::jobs::longest_reproduction) << file;
  }
}

/// Whether the library at hand has all of mend's corrections.
bool is_corrected() { return mend::jobs::missing_corrections(MEND_MPI_PREFIX, {5, 0, 0}).empty(); }

TEST(Reproducers, can_be_compiled) {
  if (!is_corrected()) GTEST_SKIP() << "this Open MPI may come without the headers of PMIx";
  for (const auto& [name, file] : reproducers()) {
    if (file.extension() != ".c") continue;
    const ProgramEnd end = mend::jobs::run_program(
        {MEND_MPI_PREFIX "/bin/mpicc", "-fsyntax-only", "-I" MEND_SOURCE_DIR "/jobs/setup/reproducers", file.string()},
        std::chrono::seconds(60));
    EXPECT_EQ(end.exit_code, 0) << end.errors;
  }
}

TEST(CorrectionsCommand, lists_the_corrections) {
  const ProgramEnd end = script("corrections.sh", {"--list"});
  std::string names;
  for (const Correction& correction : corrections()) names += std::string(correction.name) + "\n";
  EXPECT_EQ(end.output, names);
  EXPECT_EQ(end.exit_code, 0);
}

TEST(CorrectionsCommand, says_in_a_sentence_what_it_cannot_do) {
  const support::ScratchFolder folder;
  const fs::path fake = folder.path() / "fake";
  for (const char* tool : {"mpicc", "mpirun", "ompi_info"})
    write_program(fake / "bin" / tool, "echo 'FT MPI support: no'");
  fs::create_directories(folder.path() / "empty");
  struct Case {
    std::vector<std::string> arguments;
    std::string sentence;
  };
  for (const Case& one : std::vector<Case>{
           {{}, "nothing to do: it takes --check MPI_HOME or --list; see --help"},
           {{"--chek"}, "unknown option '--chek'; see --help"},
           {{"--check"}, "--check needs the prefix of an Open MPI"},
           {{"--check", MEND_MPI_PREFIX, "--runs", "0"}, "--runs needs a number from 1 to 99999"},
           {{"--check", MEND_MPI_PREFIX, "nonsense"}, "there is no correction 'nonsense'; --list prints them"},
           {{"--check", "/nonexistent"}, "/nonexistent is not a folder"},
           {{"--check", (folder.path() / "empty").string()}, "has no bin/mpicc; name the prefix of an Open MPI"},
           {{"--check", fake.string()}, "has no fault tolerance (ompi_info does not say 'FT MPI support: yes')"}}) {
    const ProgramEnd end = script("corrections.sh", one.arguments);
    EXPECT_EQ(end.exit_code, 2) << one.sentence;
    EXPECT_THAT(end.errors, StartsWith("corrections.sh: ")) << one.sentence;
    EXPECT_THAT(end.errors, HasSubstr(one.sentence));
    EXPECT_EQ(end.output, "") << one.sentence;
  }
}

TEST(CorrectionsCommand, ends_a_reproducer_that_hangs_with_all_that_it_has_started) {
  const support::ScratchFolder folder;
  const std::string word = fmt::format("mend-reproducer-{}", ::getpid());
  const std::string left_behind = fmt::format("(exec -a {} sleep 300) &\nexec -a {} sleep 300\n", word, word);
  const auto write = [&](const char* name, const std::string& head, const std::string& body) {
    write_program(folder.path() / "some" / (std::string(name) + ".sh"), head + body);
  };
  write("hangs", "# runs: 5\n# limit: 1\n# hangs: somebody waits for ever\n", left_behind);
  write("ignores-requests", "# runs: 5\n# limit: 1\n", "trap '' TERM\n" + left_behind);
  write("fails-in-the-third", "# runs: 5\n# limit: 20\n",
        fmt::format("echo >>{0}; [ $(wc -l <{0}) -lt 3 ] && echo sound && exit\necho 'defect: seen'\n",
                    (folder.path() / "count").string()));
  write("cannot", "# runs: 5\n# limit: 20\n", "echo 'untestable: no such device'\n");
  write("is-silent", "# runs: 5\n# limit: 20\n", "exit 3\n");
  const support::ScopedEnvironment setting({{"MEND_REPRODUCERS", folder.path().string()}});
  const ProgramEnd end = script("corrections.sh", {"--check", MEND_MPI_PREFIX, "hangs", "ignores-requests",
                                                   "fails-in-the-third", "cannot", "is-silent"});
  EXPECT_TRUE(all_gone(word));
  EXPECT_EQ(end.exit_code, 1) << end.errors;
  const auto line = [&](const char* name) { return line_of(end.output, name); };
  EXPECT_THAT(line("hangs"), testing::MatchesRegex("hangs +shown +1 +[0-9.]+  hangs: somebody waits for ever"));
  EXPECT_THAT(line("ignores"),
              testing::MatchesRegex("ignores-requests +untestable +1 +[0-9.]+  it did not end within 1 s"));
  EXPECT_THAT(line("fails"), testing::MatchesRegex("fails-in-the-third +shown +3 +[0-9.]+  seen"));
  EXPECT_THAT(line("cannot"), testing::MatchesRegex("cannot +untestable +1 +[0-9.]+  no such device"));
  EXPECT_THAT(line("is-silent"), HasSubstr("it ended without a verdict: exit code 3"));
  EXPECT_THAT(end.output, HasSubstr("2 of 5 defects are shown by " MEND_MPI_PREFIX ", 3 could not be tried\n"));
}

TEST(CorrectionsCommand, shows_no_defect_of_a_library_that_starts_no_program) {
  const support::ScratchFolder folder;
  write_program(folder.path() / "bin/ompi_info", "echo 'FT MPI support: yes'\n");
  for (const char* compiler : {"exit 1\n", "exit 0\n"}) {
    write_program(folder.path() / "bin/mpicc", compiler);
    write_program(folder.path() / "bin/mpirun", "exit 1\n");
    const ProgramEnd end = script("corrections.sh", {"--check", folder.path().string()});
    EXPECT_EQ(end.exit_code, 3) << end.output << end.errors;
    for (const Correction& correction : corrections())
      EXPECT_THAT(line_of(end.output, std::string(correction.name)), HasSubstr(" untestable ")) << correction.name;
    const auto count = corrections().size();
    EXPECT_THAT(end.output, HasSubstr(fmt::format("\n0 of {} defects are shown by {}, {} could not be tried\n", count,
                                                  folder.path().string(), count)));
  }
}

TEST(CorrectionsCommand, says_that_it_needs_ps_and_setsid) {
  const support::ScratchFolder folder;
  for (const char* tool : {"mpicc", "mpirun", "ompi_info"})
    write_program(folder.path() / "mpi/bin" / tool, "echo 'FT MPI support: yes'\n");
  for (const std::string missing : {"ps", "setsid"}) {
    const fs::path tools = folder.path() / ("without-" + missing);
    fs::create_directories(tools);
    for (const char* place : {"/usr/bin", "/bin"}) {
      for (const auto& entry : fs::directory_iterator(place)) {
        const fs::path name = entry.path().filename();
        if (name != missing && !fs::is_symlink(tools / name)) fs::create_symlink(entry.path(), tools / name);
      }
    }
    const support::ScopedEnvironment setting({{"PATH", tools.string()}});
    const ProgramEnd end = script("corrections.sh", {"--check", (folder.path() / "mpi").string(), "writers-may-die"});
    EXPECT_EQ(end.exit_code, 2) << end.output;
    EXPECT_THAT(end.errors, HasSubstr(missing + " is missing: install "));
  }
}

TEST(CorrectionsCommand, prints_its_table_for_programs) {
  const support::ScratchFolder folder;
  const auto write = [&](const char* name, const char* body) {
    write_program(folder.path() / "some" / (std::string(name) + ".sh"), body);
  };
  write("lost-daemon-is-survivable", "echo 'defect: all is lost'\n");
  write("writers-may-die", "# runs: 2\n# limit: 20\necho sound\n");
  const support::ScopedEnvironment setting({{"MEND_REPRODUCERS", folder.path().string()}});
  const ProgramEnd end = script("corrections.sh", {"--check", MEND_MPI_PREFIX, "--tabs", "lost-daemon-is-survivable",
                                                   "writers-may-die", "topologies-do-not-warn"});
  EXPECT_EQ(end.exit_code, 1) << end.errors;
  EXPECT_EQ(std::count(end.output.begin(), end.output.end(), '\n'), 3) << end.output;
  const auto found = mend::jobs::reproductions_in(end.output);
  ASSERT_EQ(found.size(), 3) << end.output;
  EXPECT_EQ(found[0].defect, mend::jobs::Defect::shown);
  EXPECT_EQ(found[0].words, "all is lost");
  EXPECT_EQ(found[1].defect, mend::jobs::Defect::not_shown);
  EXPECT_EQ(found[1].run, 2);
  EXPECT_EQ(found[2].defect, mend::jobs::Defect::untestable);
  EXPECT_EQ(found[2].words, "it has no reproducer");
}

TEST(CorrectionsCommand, shows_no_defect_of_a_library_that_has_the_corrections) {
  if (!is_corrected()) GTEST_SKIP() << "this Open MPI does not have them";
  std::vector<std::string> arguments{"--check", MEND_MPI_PREFIX};
  if (!support::long_tests()) {
    arguments.insert(arguments.end(), {"all-killed-is-no-success", "topologies-do-not-warn",
                                       "failed-numbering-lets-others-go-on", "unfinished-communicators-may-fail"});
  }
  const ProgramEnd end = script("corrections.sh", arguments, std::chrono::seconds(590));
  EXPECT_EQ(end.exit_code, 0) << end.output << end.errors;
  EXPECT_THAT(end.output, HasSubstr("\n0 of ")) << end.errors;
  for (const Correction& correction : corrections()) {
    const bool needs_networks =
        correction.name == "refused-messages-are-sent-later" ||  // libfabric, and UCX
        correction.name == "network-errors-are-not-fatal" || correction.name == "copied-fragments-are-not-registered" ||
        correction.name == "failed-endpoints-are-not-used" || correction.name == "fragments-are-sent-once";
    if (needs_networks) continue;
    EXPECT_THAT(line_of(end.output, std::string(correction.name)), testing::Not(HasSubstr(" untestable ")));
  }
}

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
  EXPECT_THAT(checkout.set_up("", as_sourced), ready(checkout.on_path));
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
