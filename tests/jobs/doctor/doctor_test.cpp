// The rules of mend doctor.

#include "jobs/doctor/checks.hpp"
#include "jobs/doctor/corrections.hpp"
#include "jobs/doctor/finding.hpp"
#include "jobs/doctor/program.hpp"
#include "jobs/doctor/reproduction.hpp"
#include "tests/support/job.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <set>

namespace {

using namespace mend::jobs;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST(DoctorFindings, the_worst_of_them_is_the_exit_code) {
  EXPECT_EQ(exit_code_of({}), 0);
  EXPECT_EQ(exit_code_of({{Level::pass, "a", "b", ""}}), 0);
  EXPECT_EQ(exit_code_of({{Level::warn, "a", "b", "c"}, {Level::pass, "a", "b", ""}}), 1);
  EXPECT_EQ(exit_code_of({{Level::fail, "a", "b", "c"}, {Level::warn, "a", "b", "c"}}), 2);
}

TEST(DoctorFindings, are_told_to_people_and_scripts) {
  const Finding finding{Level::fail, "clock", "it \"stands\"", "wind it"};
  EXPECT_EQ(text_of(finding, false), "fail  clock         it \"stands\"\n                    -> wind it\n");
  EXPECT_THAT(text_of(finding, true), HasSubstr("\033[31mfail\033[0m"));
  const auto json = nlohmann::json::parse(json_of({finding}));
  EXPECT_EQ(json["exit_code"], 2);
  EXPECT_EQ(json["findings"][0]["why"], "it \"stands\"");
}

TEST(DoctorCorrections, are_those_that_the_set_up_applies) {
  const auto patches_in = [](const std::string& folder) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".patch") names.insert(entry.path().stem());
    return names;
  };
  const std::string folder = MEND_SOURCE_DIR "/jobs/setup/patches";
  const std::set<std::string> applied = patches_in(folder);
  std::set<std::string> known;
  for (const Correction& correction : corrections()) known.emplace(correction.name);
  // For later versions of the library there are other patches of the same corrections, and those that only they need.
  const std::set<std::string> later = patches_in(folder + "/later");
  std::set<std::string> all = applied;
  all.insert(later.begin(), later.end());
  EXPECT_EQ(known, all);
  for (const Correction& correction : corrections())
    EXPECT_EQ(applied.contains(std::string(correction.name)), correction.since == (Release{5, 0, 0}))
        << correction.name;
}

TEST(DoctorCorrections, that_a_prefix_does_not_have_are_missing) {
  const support::ScratchFolder prefix;
  const auto missing_in = [&](Release release) {
    std::vector<std::string> names;
    for (const Correction& correction : missing_corrections(prefix.path(), release))
      names.emplace_back(correction.name);
    return names;
  };
  // Each version lacks some defects: those that only later ones have, and those that its authors have corrected.
  EXPECT_THAT(missing_in({5, 0, 7}), AllOf(SizeIs(corrections().size() - 2), Contains("agree-survives-late-news"),
                                           Not(Contains("errors-without-statuses-are-returned")),
                                           Not(Contains("intercommunicators-can-be-made"))));
  EXPECT_THAT(missing_in({5, 0, 10}),
              AllOf(SizeIs(corrections().size() - 3), Not(Contains("agree-survives-late-news")),
                    Not(Contains("kept-acknowledgements-are-whole")), Not(Contains("intercommunicators-can-be-made"))));
  EXPECT_THAT(missing_in({6, 0, 0}),
              AllOf(SizeIs(corrections().size() - 4), Not(Contains("agree-survives-late-news")),
                    Not(Contains("kept-acknowledgements-are-whole")), Not(Contains("network-errors-are-not-fatal")),
                    Not(Contains("exits-are-counted-once"))));
  EXPECT_EQ(release_in("mpirun (Open MPI) 5.0.10"), (Release{5, 0, 10}));
  EXPECT_EQ(release_in("mpirun (Open MPI) 6.0.0a1"), (Release{6, 0, 0}));
  EXPECT_EQ(release_in("something else"), (Release{5, 0, 0}));
  const auto folder = prefix.path() / "share/mend/corrections";
  std::filesystem::create_directories(folder);
  for (const Correction& correction : corrections()) std::ofstream(folder / (std::string(correction.name) + ".patch"));
  EXPECT_THAT(missing_corrections(prefix.path(), {6, 0, 0}), IsEmpty());
  std::filesystem::remove(folder / "lost-daemon-is-survivable.patch");
  ASSERT_THAT(missing_corrections(prefix.path(), {6, 0, 0}), SizeIs(1));
  EXPECT_EQ(missing_corrections(prefix.path(), {6, 0, 0}).front().without, "the loss of a node ends the job");
}

TEST(DoctorReproductions, are_read_from_the_table_and_nothing_else_is) {
  const auto found = reproductions_in(
      "lost-daemon-is-survivable\tshown\t2\t1.4\texit code 1\twith a tab\n"
      "writers-may-die\tnot shown\t3\t12.0\t\n"
      "\n"
      "writers-may-die not shown 3 12.0\n"
      "writers-may-die\tnot shown\tthree\t12.0\t\n"
      "writers-may-die\tseen\t3\t12.0\t\n"
      "nonsense\tshown\t1\t0.1\tit is unknown\n"
      "topologies-do-not-warn\tuntestable\t0\t0\tit has no reproducer");
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].correction.name, "lost-daemon-is-survivable");
  EXPECT_EQ(found[0].defect, Defect::shown);
  EXPECT_EQ(found[0].run, 2);
  EXPECT_EQ(found[0].words, "exit code 1\twith a tab");
  EXPECT_EQ(found[1].defect, Defect::not_shown);
  EXPECT_EQ(found[1].words, "");
  EXPECT_EQ(found[2].defect, Defect::untestable);
  EXPECT_EQ(found[2].words, "it has no reproducer");
  EXPECT_THAT(reproductions_in(""), IsEmpty());
}

TEST(DoctorReproductions, are_told_by_what_they_mean) {
  const auto reproductions = reproductions_in(
      "lost-daemon-is-survivable\tshown\t2\t1.4\texit code 1\n"
      "writers-may-die\tnot shown\t3\t12.0\t\n"
      "errors-of-steps-are-kept\tnot shown\t1\t2.0\t\n"
      "topologies-do-not-warn\tuntestable\t1\t0.1\tno such device\n");
  Findings findings = findings_of(reproductions, true);
  ASSERT_THAT(findings, SizeIs(3));
  EXPECT_EQ(findings[0].level, Level::warn);
  EXPECT_THAT(findings[0].why, HasSubstr("lost-daemon-is-survivable corrects: the loss of a node ends the job"));
  EXPECT_THAT(findings[0].why, HasSubstr("(run 2: exit code 1)"));
  EXPECT_THAT(findings[0].remedy, HasSubstr("jobs/setup.sh builds"));
  EXPECT_EQ(findings[1].level, Level::pass);
  EXPECT_EQ(findings[1].why, "2 of 4 defects are not shown");
  EXPECT_EQ(findings[2].level, Level::warn);
  EXPECT_THAT(findings[2].why, HasSubstr("topologies-do-not-warn corrects cannot be tried: no such device"));
  // Of a library with the corrections, a defect is one of mend, and what cannot be tried is no reason to warn.
  findings = findings_of(reproductions, false);
  EXPECT_THAT(findings[0].remedy, HasSubstr("report this"));
  EXPECT_EQ(findings[2].level, Level::pass);
  // If none can be tried, nothing is known.
  findings = findings_of(reproductions_in("writers-may-die\tuntestable\t1\t0.1\tmpirun starts nothing\n"), false);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].level, Level::warn);
}

TEST(DoctorReproductions, that_cannot_be_made_are_counted_in_a_sentence) {
  const support::ScratchFolder folder;
  const std::vector<Correction> tried(corrections().begin(), corrections().begin() + 2);
  const auto script = folder.path() / "corrections.sh";
  const auto findings = [&] { return reproduce(script, folder.path(), tried, true); };
  const auto write = [](const std::filesystem::path& file, const char* text) {
    std::ofstream(file) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  };
  EXPECT_THAT(findings().back().why, HasSubstr("2 of 2 defects were not tried: there is no "));
  write(script, "echo 'agree-survives-late-news\tshown\t1\t0.1\ta crash'\necho 'no space left' >&2\nexit 2\n");
  EXPECT_THAT(findings().back().why, HasSubstr("there is no mpicc in " + (folder.path() / "bin").string()));
  std::filesystem::create_directories(folder.path() / "bin");
  write(folder.path() / "bin/mpicc", "");
  ASSERT_THAT(findings(), SizeIs(2));
  EXPECT_THAT(findings().front().why, HasSubstr("(run 1: a crash)"));
  EXPECT_EQ(findings().back().why, "1 of 2 defects were not tried: no space left");
}

TEST(DoctorHeartbeat, is_judged_by_how_late_processes_wake_up) {
  EXPECT_EQ(judge_heartbeat(0.1, 100, 1000).level, Level::pass);
  EXPECT_EQ(judge_heartbeat(0.1, 100, 150).level, Level::fail) << "mend refuses it";
  EXPECT_EQ(judge_heartbeat(30, 100, 210).level, Level::fail) << "less than a heartbeat and four delays";
  EXPECT_EQ(judge_heartbeat(20, 100, 500).level, Level::warn);
  EXPECT_EQ(heartbeat_floor(0.1).heartbeat_ms, 10);
  EXPECT_EQ(heartbeat_floor(20).heartbeat_ms, 80);
}

TEST(DoctorHeartbeat, what_it_advises_passes) {
  for (const double delay : {0.01, 3.0, 80.0}) {
    const HeartbeatFloor floor = heartbeat_floor(delay);
    EXPECT_EQ(judge_heartbeat(delay, floor.heartbeat_ms, floor.timeout_ms).level, Level::pass) << delay;
  }
}

TEST(DoctorProgram, is_read_to_its_end) {
  const ProgramEnd end =
      run_program({"sh", "-c", "echo out; echo >&2; echo complaint >&2; exit 3"}, std::chrono::seconds(20));
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.output, "out\n");
  EXPECT_EQ(end.complaint(), "complaint");
  EXPECT_EQ(run_program({"/nonexistent/program"}, std::chrono::seconds(20)).exit_code, 127);
}

TEST(DoctorProgram, that_does_not_end_is_asked_to_with_its_children_and_killed_if_it_does_not) {
  ProgramEnd end = run_program({"sh", "-c", "sleep 1000 & wait"}, std::chrono::seconds(1));
  EXPECT_FALSE(end.in_time);
  EXPECT_EQ(end.exit_code, 143);
  end = run_program({"sh", "-c", "trap '' TERM; sleep 1000 & wait"}, std::chrono::seconds(1));
  EXPECT_FALSE(end.in_time);
  EXPECT_EQ(end.exit_code, 137);
}

}  // namespace
