#include "jobs/report/timeline.hpp"

#include "base/error.hpp"
#include "jobs/report/page.hpp"

#include <gmock/gmock.h>

#include <algorithm>
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

TEST(Timeline, of_no_events_is_empty) {
  const Timeline timeline = timeline_of({});
  EXPECT_TRUE(timeline.rows.empty());
  EXPECT_EQ(page_model({"nothing", timeline, {}}).at("length"), 0);
}

TEST(Timeline, bears_processes_of_which_it_is_not_told_what_they_are) {
  const Timeline timeline = timeline_of(parsed(json::array({span(3, "commit", 10, 5), moment(3, "dead", 20)})));
  EXPECT_THAT(timeline.rows, ElementsAre(Field(&Row::name, "spare 3")));
}

TEST(TraceFiles, of_processes_that_were_killed_are_read_as_far_as_they_go) {
  const std::string whole = R"({"displayTimeUnit":"ms","traceEvents":[
{"name":"a","pid":1,"ts":1},
{"name":"b","pid":1,"ts":2}
]})";
  EXPECT_EQ(events_in(whole).size(), 2U);
  const std::size_t first_end = whole.find("},") + 1;
  for (std::size_t length = first_end; length < whole.size(); ++length) {
    const json events = events_in(whole.substr(0, length));
    ASSERT_FALSE(events.is_discarded()) << length;
    EXPECT_EQ(events.at(0).at("name"), "a") << length;
    EXPECT_EQ(events.size(), length > whole.find("2}") + 1 ? 2U : 1U) << length;
  }
}

TEST(TraceFiles, that_are_none_are_refused) {
  EXPECT_TRUE(events_in("").is_discarded());
  EXPECT_TRUE(events_in("[]").is_discarded());
  EXPECT_TRUE(events_in("{\"traceEvents\": 3}").is_discarded());
  EXPECT_THROW(read_trace("/nowhere"), UsageError);
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
