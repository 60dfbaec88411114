// mend report and mend plan --measured read files that users have at hand: any field may be missing or of another kind.

#include "base/error.hpp"
#include "jobs/report/page.hpp"
#include "jobs/report/result.hpp"
#include "jobs/report/timeline.hpp"
#include "jobs/report/trace_files.hpp"
#include "tests/support/long_tests.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace mend::jobs {
namespace {

using nlohmann::json;

json a_result() {
  return json::parse(R"({"app": "heat", "ranks": 3, "spares": 1, "reported": {"heat": 0.5}, "commits": 8,
    "exit_code": 3, "reason": "lost", "launch": 2, "launches": [{"app": "heat", "ranks": 3, "exit_code": 3,
      "recoveries": [{"epoch": 1, "dead": [1]}]}],
    "snapshot_bytes": 4096, "phase_seconds": {"commit": 0.5, "restore": 0.1, "total": 9.0},
    "recoveries": [{"epoch": 1, "dead": [1, 3], "replacements": [{"rank": 1, "dead": 1, "newcomer": 4}],
      "given_up": [{"rank": 2, "dead": 3}], "noticed_us": 5000, "interrupt_ms": 1.5, "agree_ms": 0.4,
      "rebuild_ms": 0.5, "restore_ms": 0.5, "rounds": 1,
      "local": {"version": 1, "back": [{"rank": 1, "again": 2}], "ranks": [{"rank": 0, "kept": 3, "logged": 99}]}}]})");
}

json some_events() {
  return json::parse(R"([
    {"name": "epoch", "ph": "i", "pid": 0, "ts": 1000, "args": {"epoch": 0, "rank": 0}},
    {"name": "epoch", "ph": "i", "pid": 1, "ts": 1010, "args": {"epoch": 0, "rank": 1}},
    {"name": "epoch", "ph": "i", "pid": 2, "ts": 1020, "args": {"epoch": 0}},
    {"name": "commit", "ph": "X", "pid": 0, "ts": 2000, "dur": 50, "args": {"version": 1, "bytes": 4096}},
    {"name": "step", "ph": "i", "pid": 1, "ts": 3000, "args": {"step": 4}},
    {"name": "dead", "ph": "i", "pid": 0, "ts": 5000, "args": {"process": 1}},
    {"name": "interrupt", "ph": "X", "pid": 0, "ts": 5000, "dur": 100, "args": {"epoch": 1}},
    {"name": "recovery", "ph": "X", "pid": 0, "ts": 5100, "dur": 520, "args": {"epoch": 1}},
    {"name": "epoch", "ph": "i", "pid": 0, "ts": 5630, "args": {"epoch": 1, "rank": 0}},
    {"name": "epoch", "ph": "i", "pid": 2, "ts": 5640, "args": {"epoch": 1, "rank": 1}},
    {"name": "rollback", "ph": "i", "pid": 2, "ts": 5650, "args": {"version": 1, "kept": 0, "logged": 7}},
    {"name": "restore", "ph": "X", "pid": 2, "ts": 5700, "dur": 440, "args": {"version": 1}},
    {"name": "message", "ph": "i", "pid": 2, "ts": 5800, "args": {"to": 0}},
    {"name": "finished", "ph": "i", "pid": 0, "ts": 9000},
    {"name": "epoch", "ph": "i", "pid": 0, "ts": 10000, "launch": 2, "args": {"epoch": 0, "rank": 0}}])");
}

/// Every field in `value`, and itself.
std::vector<json::json_pointer> fields_of(const json& value) {
  std::vector<json::json_pointer> found{json::json_pointer()};
  const json all = value.flatten();
  for (const auto& [path, leaf] : all.items()) {
    for (json::json_pointer at(path); !at.empty(); at.pop_back()) found.push_back(at);
  }
  return found;
}

/// `value` with one or a few fields missing or replaced.
json changed(json value, std::mt19937& random) {
  static const std::vector<json> others{nullptr,
                                        true,
                                        -1,
                                        0,
                                        1.5,
                                        1e308,
                                        std::numeric_limits<std::int64_t>::min(),
                                        std::numeric_limits<std::uint64_t>::max(),
                                        "",
                                        "words",
                                        json::array(),
                                        json::object(),
                                        json::array({1, 2}),
                                        {{"rank", 1}}};
  for (std::size_t left = 1 + random() % 3; left > 0; --left) {
    const auto fields = fields_of(value);
    const json::json_pointer& field = fields[random() % fields.size()];
    const bool is_removed = !field.empty() && value[field.parent_pointer()].is_object() && random() % 3 == 0;
    if (is_removed) {
      value[field.parent_pointer()].erase(field.back());
    } else {
      value[field] = others[random() % others.size()];
    }
  }
  return value;
}

int times() { return support::long_tests() ? 100'000 : 1'000; }

/// A wrong field is told by one of the two exceptions that mend report turns into a sentence.
template <class Work>
void do_or_refuse(const json& input, const Work& work) {
  try {
    work();
  } catch (const UsageError&) {
    // told as it is
  } catch (const json::exception& error) {
    EXPECT_THAT(not_a_result("FILE", error).what(),
                testing::AllOf(testing::StartsWith("FILE is not the result of a run: "),
                               testing::Not(testing::HasSubstr("json.exception"))));
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << ":\n" << input.dump(1);
  }
}

TEST(AnyField, that_counts_commits_is_a_whole_number) {
  for (const char* field : {"timed_commits", "commits"}) {
    for (const double wrong : {-1.0, 1e308, 0.5}) {
      json result = a_result();
      result[field] = wrong;
      try {
        page_model({"heat", std::nullopt, result});
        FAIL() << field << " is " << wrong;
      } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("it is not the result of a run: its number of commits is "));
      }
    }
    json result = a_result();
    result[field] = 20.0;
    EXPECT_EQ(page_model({"heat", std::nullopt, result}).at("economy").at("commits"), 20) << field;
  }
}

TEST(AnyField, of_a_result_is_read_or_refused) {
  std::mt19937 random(1);
  for (int i = 0; i < times() && !testing::Test::HasFailure(); ++i) {
    const json result = changed(a_result(), random);
    if (!result.is_object() || !result.contains("ranks") || !result.contains("recoveries")) continue;  // read_result
    do_or_refuse(result, [&] { timeline(result); });
    do_or_refuse(result, [&] { differences(result, a_result()); });
    do_or_refuse(result, [&] { page_model({"heat", timeline_of(parsed(some_events())), result}).dump(); });
  }
}

TEST(AnyField, of_a_trace_is_read_and_an_event_that_is_none_left_out) {
  std::mt19937 random(2);
  for (int i = 0; i < times() && !testing::Test::HasFailure(); ++i) {
    const json events = changed(some_events(), random);
    if (!events.is_array()) continue;  // events_in
    SCOPED_TRACE(events.dump());
    EXPECT_NO_THROW({
      const Timeline traced = timeline_of(parsed(joined_launches(events)));
      page_model({"heat", traced, {}}).dump();
      timeline(as_result("heat", traced));
      for_perfetto(events).dump();
    });
  }
}

}  // namespace
}  // namespace mend::jobs
