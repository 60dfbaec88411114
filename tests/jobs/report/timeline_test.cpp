#include "jobs/report/timeline.hpp"

#include "base/error.hpp"
#include "jobs/report/page.hpp"
#include "jobs/report/result.hpp"
#include "jobs/report/trace_gaps.hpp"
#include "tests/support/job.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>

namespace mend::jobs {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

json span(int process, const char* name, int begin, int length, json notes = json::object()) {
  return {{"name", name}, {"ph", "X"}, {"pid", process}, {"ts", begin}, {"dur", length}, {"args", std::move(notes)}};
}

json moment(int process, const char* name, int at, json notes = json::object()) {
  return {{"name", name}, {"ph", "i"}, {"pid", process}, {"ts", at}, {"args", std::move(notes)}};
}

/// Two ranks and a spare: both ranks commit, rank 1 is killed at about 5000, and the spare, process 2, takes over.
json a_job() {
  return json::array({
      moment(0, "epoch", 1000, {{"epoch", 0}, {"rank", 0}}),
      moment(1, "epoch", 1010, {{"epoch", 0}, {"rank", 1}}),
      moment(2, "epoch", 1020, {{"epoch", 0}}),
      span(0, "commit", 2000, 30, {{"version", 1}}),
      span(0, "commit", 2030, 50, {{"version", 1}, {"bytes", 4096}}),
      span(1, "commit", 2000, 40, {{"version", 1}}),
      span(1, "commit", 2040, 60, {{"version", 1}, {"bytes", 512}}),
      span(1, "commit", 4000, 40, {{"version", 2}}),
      moment(0, "dead", 5000, {{"process", 1}}),
      moment(2, "dead", 5005, {{"process", 1}}),
      span(0, "interrupt", 5000, 100, {{"epoch", 1}}),
      span(0, "agree", 5100, 200, {{"epoch", 1}}),
      span(0, "rebuild", 5300, 300, {{"epoch", 1}}),
      span(0, "recovery", 5100, 520, {{"epoch", 1}}),
      span(2, "interrupt", 5005, 50, {{"epoch", 1}}),
      span(2, "agree", 5055, 200, {{"epoch", 1}}),
      span(2, "rebuild", 5255, 300, {{"epoch", 1}}),
      span(2, "recovery", 5055, 520, {{"epoch", 1}}),
      moment(0, "epoch", 5630, {{"epoch", 1}, {"rank", 0}}),
      moment(2, "epoch", 5640, {{"epoch", 1}, {"rank", 1}}),
      span(0, "restore", 5700, 400, {{"version", 1}}),
      span(2, "restore", 5700, 440, {{"version", 1}}),
      moment(0, "finished", 9000),
      moment(2, "finished", 9010),
  });
}

std::vector<Bar> bars(const Timeline& timeline, Kind kind) {
  std::vector<Bar> found;
  std::ranges::copy_if(timeline.bars, std::back_inserter(found), [&](const Bar& bar) { return bar.kind == kind; });
  return found;
}

auto bar(int row, int process, std::int64_t begin, std::int64_t length) {
  return AllOf(Field(&Bar::row, row), Field(&Bar::process, process), Field(&Bar::begin, begin),
               Field(&Bar::length, length));
}

TEST(Timeline, has_a_row_for_each_rank_and_for_each_process_that_was_a_spare) {
  const Timeline timeline = timeline_of(parsed(a_job()));
  EXPECT_THAT(timeline.rows,
              ElementsAre(Field(&Row::name, "rank 0"), Field(&Row::name, "rank 1"), Field(&Row::name, "spare 2")));
  EXPECT_EQ(timeline.ranks, 2);
  EXPECT_EQ(timeline.processes, 3);
  EXPECT_EQ(timeline.spares, 1);
  EXPECT_EQ(timeline.origin_us, 1000);
  EXPECT_EQ(timeline.length, 8010);
}

TEST(Timeline, follows_a_rank_from_the_dead_process_to_its_successor) {
  const Timeline timeline = timeline_of(parsed(a_job()));
  EXPECT_EQ(timeline.deaths, 1);
  EXPECT_THAT(bars(timeline, Kind::died), ElementsAre(bar(1, 1, 4000, 0)));
  EXPECT_THAT(bars(timeline, Kind::takes_over), ElementsAre(bar(1, 2, 4640, 0)));
  EXPECT_THAT(bars(timeline, Kind::computes),
              ElementsAre(bar(0, 0, 0, 4630), bar(0, 0, 4630, 3370), bar(1, 1, 10, 3990), bar(1, 2, 4640, 3370)));
  EXPECT_THAT(bars(timeline, Kind::waits), ElementsAre(bar(2, 2, 20, 4620)));
  EXPECT_THAT(bars(timeline, Kind::recovery), ElementsAre(bar(0, 0, 4100, 520), bar(2, 2, 4055, 520)));
  EXPECT_THAT(bars(timeline, Kind::restore), ElementsAre(bar(0, 0, 4700, 400), bar(1, 2, 4700, 440)));
}

TEST(Timeline, takes_a_recovery_from_the_slowest_rank_as_result_files_do) {
  const json recovery = timeline_of(parsed(a_job())).recoveries.at(0);
  EXPECT_EQ(recovery.at("epoch"), 1);
  EXPECT_EQ(recovery.at("dead"), json::array({1}));
  EXPECT_EQ(recovery.at("replacements"), json::parse(R"([{"rank": 1, "dead": 1, "newcomer": 2}])"));
  EXPECT_EQ(recovery.at("noticed_us"), 5000);
  EXPECT_DOUBLE_EQ(recovery.at("interrupt_ms"), 0.1);
  EXPECT_DOUBLE_EQ(recovery.at("agree_ms"), 0.2);
  EXPECT_DOUBLE_EQ(recovery.at("rebuild_ms"), 0.3);
  EXPECT_DOUBLE_EQ(recovery.at("restore_ms"), 0.4);
}

TEST(Timeline, counts_the_commits_that_were_published_at_the_cost_of_the_slowest_rank) {
  const Timeline timeline = timeline_of(parsed(a_job()));
  EXPECT_THAT(timeline.commits, ElementsAre(AllOf(Field(&Commit::version, 1), Field(&Commit::begin, 1000),
                                                  Field(&Commit::cost, 100), Field(&Commit::bytes, 4096))));
  const CommitEconomy economy = timeline.economy();
  EXPECT_EQ(economy.commits, 1U);
  EXPECT_NEAR(economy.commit_time.count(), 1e-4, 1e-9);
  EXPECT_EQ(economy.failures, 1U);
}

TEST(Timeline, has_no_recovery_where_the_processes_agreed_that_the_job_ends) {
  json events = a_job();
  events.push_back(moment(0, "dead", 7000, {{"process", 2}}));
  events.push_back(moment(0, "epoch", 7100, {{"epoch", 2}, {"rank", 0}}));
  EXPECT_EQ(timeline_of(parsed(events)).recoveries.size(), 1U);
}

TEST(Timeline, of_no_events_is_empty) {
  const Timeline timeline = timeline_of({});
  EXPECT_TRUE(timeline.rows.empty());
  EXPECT_EQ(page_model({"nothing", timeline, {}}).at("length"), 0);
}

TEST(Timeline, bears_processes_of_which_it_is_not_told_what_they_are) {
  const Timeline timeline = timeline_of(parsed(json::array({span(3, "commit", 10, 5), moment(3, "dead", 20)})));
  EXPECT_THAT(timeline.rows, ElementsAre(Field(&Row::name, "spare 3")));
}

/// The same job under local rollback: rank 1 had computed two steps since version 1, which process 2 computes again;
/// its commit of version 2 was not completed.
json a_local_job() {
  json events = a_job();
  const auto rollback = [](int process, int at, bool stays, int kept, int logged, int resent) {
    return moment(process, "rollback", at,
                  {{"epoch", 1},
                   {"stays", stays ? 1 : 0},
                   {"version", stays ? 1 : 0},
                   {"kept", kept},
                   {"logged", logged},
                   {"resent", resent},
                   {"resent_bytes", 8 * resent}});
  };
  for (const json& event :
       {moment(1, "step", 1500), moment(1, "step", 2500), moment(1, "step", 3500), moment(0, "step", 2600),
        moment(0, "step", 3600), moment(0, "step", 4600), rollback(0, 5650, true, 3, 3000, 7),
        rollback(2, 5660, false, 0, 500, 0), moment(2, "step", 6500), moment(2, "step", 7100), moment(2, "step", 7900)})
    events.push_back(event);
  return events;
}

TEST(LocalRollback, is_told_by_traces_rank_by_rank) {
  const json recovery = timeline_of(parsed(a_local_job())).recoveries.at(0);
  const json& local = recovery.at("local");
  EXPECT_EQ(local.at("version"), 1);
  EXPECT_EQ(local.at("back"), json::parse(R"([{"rank": 1, "process": 2, "again": 2}])"));
  EXPECT_EQ(local.at("ranks"), json::parse(R"([{"rank": 0, "kept": 3, "logged": 3000, "resent": 7, "resent_bytes": 56},
                            {"rank": 1, "kept": 0, "logged": 500, "resent": 0, "resent_bytes": 0}])"));
  EXPECT_FALSE(timeline_of(parsed(a_job())).recoveries.at(0).contains("local"));
}

TEST(LocalRollback, shows_what_is_computed_a_second_time) {
  const Timeline timeline = timeline_of(parsed(a_local_job()));
  // From the end of the restore until the second step.
  EXPECT_THAT(bars(timeline, Kind::again), ElementsAre(bar(1, 2, 5140, 960)));
  EXPECT_THAT(bars(timeline_of(parsed(a_job())), Kind::again), ElementsAre());
}

/// Rank 0 is of the same cluster as rank 1, and loses the three steps that it had computed since version 1.
TEST(LocalRollback, of_a_cluster_takes_a_survivor_back) {
  json events = a_local_job();
  for (json& event : events) {
    if (event.at("name") != "rollback" || event.at("pid") != 0) continue;
    event["args"].update({{"stays", 0}, {"back", 1}, {"kept", 0}});
  }
  for (const int at : {6200, 6800, 7300, 7800}) events.push_back(moment(0, "step", at));
  const Timeline timeline = timeline_of(parsed(events));
  EXPECT_EQ(timeline.recoveries.at(0).at("local").at("back"),
            json::parse(R"([{"rank": 0, "process": 0, "again": 3}, {"rank": 1, "process": 2, "again": 2}])"));
  // Each from the end of its restore.
  EXPECT_THAT(bars(timeline, Kind::again), ElementsAre(bar(0, 0, 5100, 1200), bar(1, 2, 5140, 960)));
}

TEST(LocalRollback, counts_the_steps_of_a_survivor_that_dies_later_from_its_commit) {
  json events = a_local_job();
  // Rank 0 has restored process 2 in between, and did not go back: it loses all of its four steps since version 1.
  std::erase_if(events.get_ref<json::array_t&>(),
                [](const json& event) { return event.at("name") == "finished" && event.at("pid") == 0; });
  for (const json& event :
       {moment(0, "step", 7000), moment(2, "dead", 8000, {{"process", 0}}),
        span(2, "interrupt", 8000, 10, {{"epoch", 2}}), span(3, "recovery", 8000, 90, {{"epoch", 2}}),
        moment(3, "epoch", 8100, {{"epoch", 2}, {"rank", 0}}), moment(2, "epoch", 8100, {{"epoch", 2}, {"rank", 1}}),
        moment(3, "rollback", 8110, {{"epoch", 2}, {"stays", 0}, {"version", 0}, {"kept", 0}, {"logged", 0}}),
        moment(2, "rollback", 8110, {{"epoch", 2}, {"stays", 1}, {"version", 1}, {"kept", 3}, {"logged", 9}})})
    events.push_back(event);
  const json local = timeline_of(parsed(events)).recoveries.at(1).at("local");
  EXPECT_EQ(local.at("back"), json::parse(R"([{"rank": 0, "process": 3, "again": 4}])"));
}

TEST(LocalRollback, stands_in_the_text_and_in_the_page) {
  const Timeline timeline = timeline_of(parsed(a_local_job()));
  EXPECT_THAT(jobs::timeline(as_result("heat", timeline)),
              testing::ContainsRegex("went back +to version +steps again +steps kept +logs, MiB +of a rank\n"
                                     "  rank 1 +1 +2 +3 +0.00 +0.00\n"));
  EXPECT_THAT(jobs::timeline(as_result("heat", timeline_of(parsed(a_job())))), Not(HasSubstr("went back")));
  const json local = page_model({"heat", timeline, {}}).at("recoveries").at(0).at("local");
  EXPECT_EQ(local.at("who"), "rank 1");
  EXPECT_EQ(local.at("again"), 2);
  EXPECT_EQ(local.at("kept"), 3);
  EXPECT_EQ(local.at("logged"), 3500);
  EXPECT_EQ(local.at("most_logged"), 3000);
}

/// What a result tells, without traces.
json a_local_result() {
  return json::parse(R"({"app": "heat", "ranks": 2, "recoveries": [{"epoch": 1, "dead": [1], "agree_ms": 7.0,
    "local": {"version": 1, "back": [{"rank": 1}],
              "ranks": [{"rank": 0, "kept": 3, "logged": 2097152}, {"rank": 1, "kept": 0, "logged": 0}]}}]})");
}

TEST(LocalRollback, of_a_result_alone_lacks_the_steps_that_only_traces_tell) {
  EXPECT_THAT(jobs::timeline(a_local_result()), testing::ContainsRegex("  rank 1 +1 +- +3 +2.00 +2.00\n"));
  json of_a_spare = a_local_result();
  of_a_spare["recoveries"][0]["local"]["back"] = json::array();
  EXPECT_THAT(jobs::timeline(of_a_spare), testing::ContainsRegex("  nobody +1 +- +3 +2.00 +2.00\n"));
  EXPECT_FALSE(
      page_model({"heat", std::nullopt, a_local_result()}).at("recoveries").at(0).at("local").contains("again"));
  const json both = page_model({"heat", timeline_of(parsed(a_local_job())), a_local_result()});
  EXPECT_EQ(both.at("recoveries").at(0).at("local").at("again"), 2);
  EXPECT_EQ(both.at("recoveries").at(0).at("sum_ms"), 7.0);
}

TEST(TraceFiles, of_processes_that_were_killed_are_read_as_far_as_they_go) {
  const std::string whole = R"({"displayTimeUnit":"ms","traceEvents":[
{"name":"a","pid":1,"ts":1},
{"name":"b","pid":1,"ts":2}
]})";
  EXPECT_EQ(events_in(whole, "trace").size(), 2U);
  const std::size_t first_end = whole.find("},") + 1;
  const support::ScratchFolder folder;
  const auto file = folder.path() / "process-0.json";
  std::ofstream(folder.path() / "process-1.json") << whole;
  std::filesystem::create_directory(folder.path() / "process-2.json");
  for (std::size_t length = 0; length < first_end; ++length) {
    std::ofstream(file) << whole.substr(0, length);
    EXPECT_EQ(parsed(read_trace(folder.path())).size(), 2U) << length;
  }
  for (std::size_t length = first_end; length < whole.size(); ++length) {
    const json events = events_in(whole.substr(0, length), "trace");
    ASSERT_FALSE(events.is_discarded()) << length;
    EXPECT_EQ(events.at(0).at("name"), "a") << length;
    EXPECT_EQ(events.size(), length > whole.find("2}") + 1 ? 2U : 1U) << length;
  }
}

TEST(TraceGaps, name_processes_without_a_trace_or_with_an_empty_one) {
  const json file_of_3{{"name", "process_name"}, {"ph", "M"}, {"pid", 3}, {"args", {{"launch", 1}}}};
  EXPECT_THAT(gaps_in(a_job()), ElementsAre()) << "of an old trace, which does not say how many processes there are";
  json events = a_job();
  events[0]["args"]["processes"] = 6;
  events.push_back(file_of_3);
  EXPECT_THAT(gaps_in(events), ElementsAre("there is no trace of processes 4, 5, the trace of process 3 is empty"));
}

TEST(TraceGaps, are_not_those_of_more_processes_than_a_job_can_have) {
  for (const std::int64_t damaged : {std::int64_t{3'000'000}, std::int64_t{-1}}) {
    json events = a_job();
    events[0]["args"]["processes"] = damaged;
    EXPECT_THAT(gaps_in(events), ElementsAre()) << damaged;
  }
}

TEST(TraceGaps, tell_a_job_and_processes_whose_traces_end_too_early) {
  json events = a_job();
  events.erase(events.size() - 1);
  EXPECT_THAT(gaps_in(events), ElementsAre("the trace of process 2 ends before the job"));
  events.erase(events.size() - 1);
  EXPECT_THAT(gaps_in(events), ElementsAre(HasSubstr("do not have the end of the job")));
}

TEST(TraceGaps, tell_traces_of_several_jobs) {
  json events = a_job();
  events.push_back(moment(5, "epoch", 10'000, {{"epoch", 0}, {"rank", 5}}));
  EXPECT_THAT(gaps_in(events), ElementsAre(HasSubstr("of more than one job")));
}

TEST(TraceFiles, that_are_none_are_refused) {
  EXPECT_TRUE(events_in("", "trace").is_discarded());
  EXPECT_TRUE(events_in("[]", "trace").is_discarded());
  EXPECT_TRUE(events_in("{\"traceEvents\": 3}", "trace").is_discarded());
  EXPECT_THROW(read_trace("/nowhere"), UsageError);
}

TEST(TraceFiles, in_a_folder_that_cannot_be_read_are_refused) {
  const support::ScratchFolder folder;
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};  // root may read all folders, but not open one then
  std::string refusal;
  ::setrlimit(RLIMIT_NOFILE, &none);
  try {
    read_trace(folder.path());
  } catch (const std::exception& error) {
    refusal = error.what();
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(refusal, "the trace " + folder.path().string() + " cannot be read");
}

TEST(TraceFiles, that_are_all_empty_are_not_called_missing) {
  const support::ScratchFolder folder;
  std::ofstream{folder.path() / "process-0.json"};
  try {
    read_trace(folder.path());
    FAIL() << "there is nothing to read";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("are empty"));
  }
}

TEST(TraceFiles, may_have_events_of_others_which_are_left_out) {
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max() - 1;
  const json events = json::array({{{"name", "a"}, {"pid", 1}, {"ts", huge}, {"dur", huge}},
                                   {{"name", "b"}, {"pid", 1}, {"ts", 5}, {"dur", huge}},
                                   {{"name", "c"}, {"pid", huge}, {"ts", 5}},
                                   {{"name", "d"}, {"pid", 1}, {"ts", -5}},
                                   {{"name", "e"}, {"pid", 1}, {"ts", 5}, {"dur", 3}}});
  const auto left = parsed(events);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left.front().end_us(), 8);
}

/// The processes that are left agree that the job ends, and number their ranks anew.
TEST(Timeline, ends_the_row_of_a_rank_at_its_death_if_nobody_takes_it_over) {
  const Timeline timeline = timeline_of(parsed(json::array({
      moment(0, "epoch", 1000, {{"epoch", 0}, {"rank", 0}}),
      moment(1, "epoch", 1000, {{"epoch", 0}, {"rank", 1}}),
      moment(2, "epoch", 1000, {{"epoch", 0}, {"rank", 2}}),
      moment(0, "dead", 5000, {{"process", 1}}),
      moment(0, "epoch", 5100, {{"epoch", 1}, {"rank", 0}}),
      moment(2, "epoch", 5100, {{"epoch", 1}, {"rank", 1}}),
      moment(0, "finished", 6000),
      moment(2, "finished", 6000),
  })));
  EXPECT_THAT(bars(timeline, Kind::computes), ElementsAre(bar(0, 0, 0, 5000), bar(1, 1, 0, 4000), bar(2, 2, 0, 5000)));
  EXPECT_THAT(bars(timeline, Kind::takes_over), ElementsAre());
}

/// The same job launched a second time, when the first launch had lost too much.
json launched_twice() {
  json all = a_job();
  for (json event : a_job()) {
    event["launch"] = 2;
    event["ts"] = event["ts"].get<int>() + 20'000;
    all.push_back(std::move(event));
  }
  return joined_launches(std::move(all));
}

TEST(Launches, are_joined_to_one_job) {
  const Timeline once = timeline_of(parsed(a_job()));
  const Timeline twice = timeline_of(parsed(launched_twice()));
  EXPECT_EQ(twice.ranks, once.ranks);
  EXPECT_EQ(twice.processes, 2 * once.processes);
  EXPECT_EQ(twice.deaths, 2 * once.deaths);
  EXPECT_EQ(bars(twice, Kind::takes_over).size(), 2 * bars(once, Kind::takes_over).size());
  ASSERT_EQ(twice.commits.size(), 2 * once.commits.size()) << "the same version in each launch";
  EXPECT_EQ(twice.commits.front().cost, once.commits.front().cost);
  ASSERT_EQ(twice.recoveries.size(), 2U);
  EXPECT_FALSE(twice.recoveries[0].contains("launch"));
  EXPECT_EQ(twice.recoveries[1].at("launch"), 2);
  EXPECT_EQ(twice.recoveries[1].at("epoch"), 1) << "as the launch itself numbers it";
  EXPECT_EQ(twice.recoveries[1].at("replacements"), json::parse(R"([{"rank": 1, "dead": 4, "newcomer": 5}])"));
}

TEST(Launches, have_recoveries_with_numbers_that_continue) {
  const Timeline timeline = timeline_of(parsed(launched_twice()));
  const json model = page_model({"heat", timeline, {}});
  const std::vector<Bar> interrupts = bars(timeline, Kind::interrupt);
  for (const std::size_t launch : {0U, 1U}) {
    const json& recovery = model.at("recoveries").at(launch);
    EXPECT_EQ(recovery.at("number"), launch + 1);
    EXPECT_EQ(recovery.at("epoch"), 1) << "as the launch itself numbers it";
    const std::int64_t begin = recovery.at("noticed_us").get<std::int64_t>() - timeline.origin_us;
    EXPECT_TRUE(std::ranges::any_of(interrupts, [&](const Bar& one) { return one.begin == begin; })) << launch;
  }
  EXPECT_LT(model.at("recoveries")[0].at("noticed_us"), model.at("recoveries")[1].at("noticed_us"));
}

TEST(Launches, of_a_result_are_told_one_by_one) {
  json part = as_result("heat", timeline_of(parsed(a_job())));
  part["phase_seconds"] = {{"commit", 0.5}, {"total", 9}};
  json result = part;
  result["launch"] = 3;  // the second was lost at its start
  result["launches"] = {part};
  result["launches"][0]["exit_code"] = 3;
  result["launches"][0]["reason"] = "no spare is left";
  const std::string text = timeline(result);
  EXPECT_THAT(text, testing::ContainsRegex("^launch 1: heat: 2 ranks, 1 recovery\n.*\n.*rank 1 .*\n"
                                           "  ended with exit code 3: no spare is left\nlaunch 3: heat: 2 ranks"));
  const json model = page_model({"heat", std::nullopt, result});
  EXPECT_EQ(model.at("ends"), json::array({"launch 1 ended with exit code 3: no spare is left"}));
  ASSERT_EQ(model.at("recoveries").size(), 2U);
  EXPECT_EQ(model.at("recoveries")[0].at("who"), "rank 1");
  EXPECT_EQ(model.at("recoveries")[1].at("who"), "launch 3: rank 1");
  EXPECT_EQ(model.at("recoveries")[0].at("number"), 1);
  EXPECT_EQ(model.at("recoveries")[1].at("number"), 2);
  EXPECT_EQ(model.at("economy").at("run_s"), 18);
  EXPECT_EQ(model.at("economy").at("commit_s"), 1);
}

TEST(Page, has_all_digits_of_what_was_reported) {
  const json result = json::parse(
      R"({"app": "heat", "ranks": 2, "recoveries": [], "reported": {"sum": 18446744073709551615, "norm": 0.5}})");
  const json model = page_model({"heat", std::nullopt, result});
  EXPECT_EQ(model.at("reported"), json::parse(R"({"sum": "18446744073709551615", "norm": "0.5"})"));
}

TEST(Perfetto, is_told_which_ranks_a_process_has_had) {
  const json trace = for_perfetto(a_job());
  EXPECT_EQ(trace.at("traceEvents").size(), a_job().size() + 6);
  EXPECT_THAT(trace.dump(), AllOf(HasSubstr("process 2: spare, rank 1"), HasSubstr("process 0: rank 0")));
}

TEST(Page, has_the_numbers_of_the_timeline) {
  const Timeline timeline = timeline_of(parsed(a_job()));
  const json model = page_model({"heat", timeline, {}});
  EXPECT_EQ(model.at("rows").size(), 3U);
  for (const auto& [name, column] : model.at("bars").items()) EXPECT_EQ(column.size(), timeline.bars.size()) << name;
  const json& recovery = model.at("recoveries").at(0);
  EXPECT_EQ(recovery.at("who"), "rank 1");
  const std::map<std::string, double> phases = recovery.at("phases");
  EXPECT_THAT(phases, ElementsAre(Pair("agree", DoubleNear(0.2, 1e-9)), Pair("interrupt", DoubleNear(0.1, 1e-9)),
                                  Pair("rebuild", DoubleNear(0.3, 1e-9)), Pair("restore", DoubleNear(0.4, 1e-9))));
  EXPECT_DOUBLE_EQ(recovery.at("sum_ms"), 1.0);
  EXPECT_EQ(model.at("commits").at(0).at("cost"), 100);
  EXPECT_THAT(model.at("economy").at("advice").get<std::string>(), HasSubstr("1 commits of 0.1 ms"));
}

TEST(Page, prefers_what_the_result_says_of_recoveries) {
  const json result = json::parse(R"({"app": "heat", "ranks": 2, "recoveries": [
      {"epoch": 1, "dead": [1], "agree_ms": 7.0}, {"epoch": 2, "dead": [3]}]})");
  const json model = page_model({"heat", timeline_of(parsed(a_job())), result});
  EXPECT_EQ(model.at("recoveries").size(), 2U);
  EXPECT_EQ(model.at("recoveries").at(0).at("sum_ms"), 7.0);
  EXPECT_EQ(page_model({"heat", std::nullopt, result}).at("bars").at("row").size(), 0U);
}

TEST(Page, cannot_be_ended_by_what_a_program_reports) {
  const json result = json::parse(R"({"app": "</script><b>", "ranks": 2, "recoveries": []})");
  const std::string page = page_of(page_model({"</script><b>", std::nullopt, result}));
  EXPECT_THAT(page, Not(HasSubstr("</script><b>")));
  EXPECT_THAT(page, HasSubstr("\\u003c/script>\\u003cb>"));
}

TEST(Page, is_whole_and_asks_for_nothing_else) {
  const std::string page = page_of(page_model({"heat", timeline_of(parsed(a_job())), {}}));
  EXPECT_THAT(page, AllOf(HasSubstr("uPlot"), Not(HasSubstr("src=")), Not(HasSubstr("<link")),
                          Not(HasSubstr("@import")), Not(HasSubstr("{{"))));
}

}  // namespace
}  // namespace mend::jobs
