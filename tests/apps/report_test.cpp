#include "apps/common/report.hpp"

#include "apps/common/field_hash.hpp"
#include "base/error.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace {

using apps::Json;
using mend::Milliseconds;
using mend::ProcessId;
using mend::Rank;

constexpr long long noticed_us = 1'700'000'000'002'500;

apps::RunFacts some_facts() {
  mend::RecoveryReport recovery;
  recovery.epoch = {1};
  recovery.dead = {ProcessId{2}, ProcessId{3}};
  recovery.replacements = {{Rank{2}, ProcessId{2}, ProcessId{4}}, {Rank{3}, ProcessId{3}, ProcessId{5}}};
  recovery.noticed = mend::WallClock::time_point(std::chrono::microseconds(noticed_us));
  recovery.interrupt = Milliseconds(0.25);
  recovery.agree = Milliseconds(0.5);
  recovery.rebuild = Milliseconds(1.5);
  recovery.restore = Milliseconds(2);
  recovery.machine = "here";
  recovery.rounds = 2;

  apps::RunFacts facts;
  facts.rank = Rank{2};
  facts.process = ProcessId{4};
  facts.ranks = 4;
  facts.epoch = {1};
  facts.role = mend::Role::newcomer;
  facts.recoveries = {recovery};
  facts.version = {7};
  facts.store.snapshot_bytes = 4096;
  facts.store.commits = 5;
  facts.store.commit_time = mend::Seconds(0.125);
  return facts;
}

apps::Outcome some_outcome() {
  apps::Outcome outcome;
  outcome.app = "demo";
  outcome.problem = {{"nx", 8}};
  outcome.field_hash = 0xabc;
  outcome.norms = {{"error_rms", 0.5}};
  outcome.phases = {{"compute", mend::Seconds(1.5)}};
  return outcome;
}

Json kill(std::uint32_t process, long long time_us) { return {{"process", process}, {"time_us", time_us}}; }

TEST(Report, the_result_tells_what_was_computed_and_what_happened) {
  apps::CommonOptions options;
  options.steps = 60;
  options.mend.spares = 2;
  const Json kills = Json::array({kill(2, noticed_us - 2500), kill(3, noticed_us - 1000), kill(9, 1)});
  const Json result = apps::result_document(some_facts(), options, some_outcome(), kills);

  EXPECT_EQ(result["app"], "demo");
  EXPECT_EQ(result["problem"]["nx"], 8);
  EXPECT_EQ(result["ranks"], 4);
  EXPECT_EQ(result["spares"], 2);
  EXPECT_EQ(result["steps"], 60);
  EXPECT_EQ(result["field_hash"], "0000000000000abc");
  EXPECT_EQ(result["norms"]["error_rms"], 0.5);
  EXPECT_EQ(result["kills"].size(), 3u);
  EXPECT_EQ(result["phase_seconds"]["compute"], 1.5);
  EXPECT_EQ(result["phase_seconds"]["commit"], 0.125);
  EXPECT_EQ(result["commits"], 7);
  EXPECT_EQ(result["timed_commits"], 5) << "those of a process that was not there from the start";
  EXPECT_EQ(result["snapshot_bytes"], 4096);

  const Json& recovery = result["recoveries"].at(0);
  EXPECT_EQ(recovery["epoch"], 1);
  EXPECT_EQ(recovery["dead"], Json::array({2, 3}));
  EXPECT_EQ(recovery["replacements"][1]["rank"], 3);
  EXPECT_EQ(recovery["replacements"][1]["dead"], 3);
  EXPECT_EQ(recovery["replacements"][1]["newcomer"], 5);
  EXPECT_EQ(recovery["noticed_us"], noticed_us);
  EXPECT_EQ(recovery["interrupt_ms"], 0.25);
  EXPECT_EQ(recovery["agree_ms"], 0.5);
  EXPECT_EQ(recovery["rebuild_ms"], 1.5);
  EXPECT_EQ(recovery["restore_ms"], 2.0);
  EXPECT_EQ(recovery["rounds"], 2);
}

TEST(Report, detection_is_counted_from_the_first_kill_of_the_recovery) {
  const Json kills = Json::array({kill(3, noticed_us - 1000), kill(2, noticed_us - 2500), kill(9, 1)});
  const Json result = apps::result_document(some_facts(), {}, some_outcome(), kills);
  EXPECT_DOUBLE_EQ(result["recoveries"][0]["detect_ms"].get<double>(), 2.5);
}

TEST(Report, detection_takes_no_time_when_the_recovery_had_begun_before_the_kill) {
  const Json kills = Json::array({kill(3, noticed_us + 1000), kill(2, noticed_us + 82'660)});
  const Json result = apps::result_document(some_facts(), {}, some_outcome(), kills);
  EXPECT_EQ(result["recoveries"][0]["detect_ms"].get<double>(), 0);
}

TEST(Report, a_spare_that_has_been_dead_for_long_does_not_count_for_the_detection) {
  apps::RunFacts facts = some_facts();
  facts.recoveries[0].dead.push_back(ProcessId{6});
  const Json kills = Json::array({kill(6, noticed_us - 9'000'000), kill(2, noticed_us - 2500)});
  const Json result = apps::result_document(facts, {}, some_outcome(), kills);
  EXPECT_DOUBLE_EQ(result["recoveries"][0]["detect_ms"].get<double>(), 2.5);
}

TEST(Report, a_kill_that_another_machines_clock_has_timed_gives_no_detection_time) {
  Json elsewhere = kill(2, noticed_us - 2500);
  elsewhere["machine"] = "there";
  const Json result = apps::result_document(some_facts(), {}, some_outcome(), Json::array({elsewhere}));
  EXPECT_TRUE(result["recoveries"][0]["detect_ms"].is_null());
}

TEST(Report, a_death_nobody_ordered_has_no_detection_time) {
  const Json result = apps::result_document(some_facts(), {}, some_outcome(), Json::array());
  EXPECT_TRUE(result["recoveries"][0]["detect_ms"].is_null());
}

TEST(Report, a_rank_gives_evidence_of_who_it_is_and_what_it_saw) {
  const Json evidence = apps::evidence_document(some_facts(), some_outcome());
  EXPECT_EQ(evidence["rank"], 2);
  EXPECT_EQ(evidence["process"], 4);
  EXPECT_EQ(evidence["epoch"], 1);
  EXPECT_EQ(evidence["role"], "newcomer");
  EXPECT_EQ(evidence["field_hash"], "0000000000000abc");
  EXPECT_EQ(evidence["recoveries"][0]["dead"], Json::array({2, 3}));
}

TEST(Report, a_file_is_replaced_whole_and_leaves_nothing_beside_it) {
  const support::ScratchFolder folder;
  const auto file = folder / "a.json";
  apps::write_whole(file, "the first, and longer, text");
  apps::write_whole(file, "second");
  std::ifstream in(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "second");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Report, a_file_that_cannot_be_written_is_named) {
  try {
    apps::write_whole("/nonexistent/a.json", "text");
    FAIL() << "written";
  } catch (const mend::EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent/a.json"), std::string::npos);
  }
}

TEST(Report, without_kills_there_is_no_record_to_read) {
  EXPECT_EQ(apps::read_kills("/nonexistent/a.json.kills"), Json::array());
}

}  // namespace
