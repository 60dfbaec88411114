// jobs/corrections.sh, which tries a library's defects one by one.

#include "jobs/doctor/corrections.hpp"
#include "jobs/doctor/program.hpp"
#include "jobs/doctor/reproduction.hpp"
#include "tests/jobs/setup/scripts.hpp"
#include "tests/support/mend_process.hpp"
#include "tests/support/job.hpp"
#include "tests/support/long_tests.hpp"
#include "tests/support/scoped_environment.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using mend::jobs::Correction;
using mend::jobs::corrections;
using mend::jobs::ProgramEnd;
using support::content_of;
using support::script;
using support::write_program;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// The reproducers by the names of their corrections.
std::map<std::string, fs::path> reproducers() {
  std::map<std::string, fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(MEND_SOURCE_DIR "/jobs/setup/reproducers")) {
    const std::string extension = entry.path().extension();
    if (extension == ".c" || extension == ".sh") files[entry.path().stem()] = entry.path();
  }
  return files;
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

}  // namespace
