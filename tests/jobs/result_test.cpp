#include "jobs/report/result.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

namespace mend::jobs {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

json undisturbed() {
  return json::parse(R"({"app": "stencil", "problem": {"nx": 64}, "ranks": 4, "spares": 2, "steps": 60,
    "field_hash": "98051d98a41c1764", "norms": {"error": 0.1}, "recoveries": []})");
}

json with_deaths() {
  json result = undisturbed();
  result["spares"] = 3;
  result["recoveries"] = json::parse(R"([{"dead": [2, 5], "replacements": [{"rank": 2, "dead": 2, "newcomer": 4}],
    "interrupt_ms": 0.25, "agree_ms": 1.5, "rebuild_ms": 2.0, "restore_ms": 4.0}])");
  return result;
}

TEST(Result, deaths_and_spares_are_no_difference) { EXPECT_THAT(differences(with_deaths(), undisturbed()), IsEmpty()); }

TEST(Result, another_field_or_norm_is_a_difference_even_in_the_last_bit) {
  json other = with_deaths();
  other["field_hash"] = "98051d98a41c1765";
  EXPECT_THAT(differences(other, undisturbed()), ElementsAre(HasSubstr("field_hash")));
  other = with_deaths();
  other["norms"]["error"] = std::nextafter(0.1, 1.0);
  EXPECT_THAT(differences(other, undisturbed()), ElementsAre(HasSubstr("norms")));
}

TEST(Result, another_problem_is_a_difference_whatever_the_field) {
  json other = undisturbed();
  other["steps"] = 61;
  EXPECT_THAT(differences(other, undisturbed()), ElementsAre(HasSubstr("steps: 61 instead of 60")));
}

TEST(Result, the_timeline_names_who_died_and_sums_the_phases_that_are_known) {
  EXPECT_THAT(timeline(with_deaths()), AllOf(HasSubstr("rank 2, process 5"), HasSubstr("1 recovery"), HasSubstr("7.75"),
                                             Not(HasSubstr("rank 5"))));
}

TEST(Result, the_phases_in_the_timeline_add_up_to_the_sum_beside_them) {
  json result = with_deaths();
  for (const char* phase : {"interrupt_ms", "agree_ms", "rebuild_ms", "restore_ms"})
    result["recoveries"][0][phase] = 0.006;
  EXPECT_THAT(timeline(result), testing::ContainsRegex("process 5 +0.01 +0.00 +0.01 +0.00 +0.02\n"));
}

TEST(Result, the_timeline_has_a_column_for_what_some_recovery_tells) {
  json result = with_deaths();
  EXPECT_THAT(timeline(result), Not(HasSubstr("detect")));
  json known = result["recoveries"][0];
  known["detect_ms"] = 1.5;
  result["recoveries"].push_back(known);
  EXPECT_THAT(timeline(result), AllOf(HasSubstr("detect"), HasSubstr("1.50"), testing::ContainsRegex("process 5 +- ")));
}

json of_any_program() {
  return json::parse(R"({"app": "heat", "ranks": 3, "spares": 1, "hash": "0011223344556677",
    "reported": {"cells": 64, "norm": 0.1, "scheme": "explicit"}, "recoveries": []})");
}

TEST(Result, of_any_program_tells_what_it_has_reported) {
  EXPECT_THAT(timeline(of_any_program()),
              AllOf(HasSubstr("heat: 3 ranks, 0 recoveries, hash 0011223344556677\n"), HasSubstr("  cells: 64\n"),
                    HasSubstr("  norm: 0.1\n"), HasSubstr("  scheme: explicit\n")));
}

TEST(Result, of_any_program_is_shown_without_what_a_terminal_would_obey) {
  json result = of_any_program();
  result["reported"]["scheme"] = "red \x1b[31m";
  EXPECT_THAT(timeline(result), HasSubstr("scheme: red \\x1b[31m\n"));
}

TEST(Result, of_any_program_differs_in_what_it_has_reported_to_the_last_bit) {
  json other = of_any_program();
  EXPECT_THAT(differences(other, of_any_program()), IsEmpty());
  other["reported"]["norm"] = std::nextafter(0.1, 1.0);
  EXPECT_THAT(differences(other, of_any_program()), ElementsAre(HasSubstr("reported")));
  other["reported"]["norm"] = -0.0;
  json positive = of_any_program();
  positive["reported"]["norm"] = 0.0;
  EXPECT_THAT(differences(other, positive), ElementsAre(HasSubstr("reported")));
  other = of_any_program();
  other.erase("hash");
  EXPECT_THAT(differences(other, of_any_program()), ElementsAre(HasSubstr("hash")));
}

TEST(Result, what_is_no_result_is_refused) {
  EXPECT_THROW(read_result("/nonexistent/result.json"), UsageError);
  const auto file = std::filesystem::path(testing::TempDir()) / "mend_result_test.json";
  for (const char* text : {"", "{", "[]", "{\"app\": \"stencil\"}"}) {
    std::ofstream(file) << text;
    EXPECT_THROW(read_result(file), UsageError) << text;
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace mend::jobs
