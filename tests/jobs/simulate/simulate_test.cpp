// `mend simulate` as users call it.

#include "tests/support/mend_process.hpp"
#include "tests/support/job.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace {

using testing::AllOf;
using testing::Gt;
using testing::HasSubstr;
using testing::Lt;
using testing::Not;

TEST(MendSimulate, tells_a_figure_beside_what_the_paper_says) {
  MendProcess detector({"simulate", "detector", "--figure", "ring-3"});
  EXPECT_EQ(detector.wait(), 0) << detector.errors();
  EXPECT_THAT(detector.output(),
              AllOf(HasSubstr("Figure 3: the longest delta"), HasSubstr("Paper"), Not(HasSubstr("Figure 4"))));
}

TEST(MendSimulate, takes_the_users_own_scale_and_latency) {
  const support::ScratchFolder scratch;
  const auto time = [&](const char* latency) {
    const std::string file = scratch.path() / (std::string(latency) + ".json");
    MendProcess run({"simulate", "agreement", "--processes", "512", "--latency", latency, "--json", file});
    EXPECT_EQ(run.wait(), 0) << run.errors();
    std::ifstream in(file);
    return nlohmann::json::parse(in)["own"]["era_us"].get<double>();
  };
  // Up the tree and down again: more than one latency, all of them longer.
  EXPECT_GT(time("20"), time("2") + 2 * 18);
}

TEST(MendSimulate, tells_when_a_death_is_known_at_the_users_own_scale) {
  const support::ScratchFolder scratch;
  const std::string file = scratch.path() / "detector.json";
  MendProcess run({"simulate", "detector", "--processes", "16,500", "--heartbeat", "50ms", "--timeout", "400ms",
                   "--failures", "2", "--within", "100ms", "--json", file});
  EXPECT_EQ(run.wait(), 0) << run.errors();
  EXPECT_THAT(run.output(), AllOf(HasSubstr("one every 50ms; time-out 400ms"),
                                  HasSubstr("2 of the processes die within"), Not(HasSubstr("Figure"))));
  std::ifstream in(file);
  const auto rows = nlohmann::json::parse(in)["own"];
  ASSERT_EQ(rows.size(), 2U);
  for (const auto& row : rows) {
    // The last heartbeat was sent at most 50 ms before the death, and a time-out passes after it.
    EXPECT_GT(row["first_known_s"], 0.35);
    EXPECT_LE(row["first_known_s"], row["first_known_at_most_s"]);
    EXPECT_LE(row["all_known_at_most_s"], row["bound_s"]);
    // Each process sends one in 50 ms. Two die.
    const double of_all = row["processes"].get<double>() / 0.05;
    EXPECT_THAT(row["heartbeats_per_s"].get<double>(), AllOf(Gt(0.85 * of_all), Lt(1.02 * of_all)));
  }
  EXPECT_LT(rows[1]["first_known_at_most_s"], 0.41 + 0.4);
  MendProcess slow({"simulate", "detector", "--processes", "16", "--timeout", "4s", "--json", file});
  EXPECT_EQ(slow.wait(), 0) << slow.errors();
  std::ifstream again(file);
  EXPECT_GT(nlohmann::json::parse(again)["own"][0]["first_known_s"], 3.8);
}

TEST(MendSimulate, tells_table_I_and_a_size_of_ones_own) {
  MendProcess table({"simulate", "rollback", "--figure", "replay-I"});
  EXPECT_EQ(table.wait(), 0) << table.errors();
  EXPECT_THAT(table.output(), HasSubstr("CG            256        16    3.60 /"));
  // All ranks are one cluster: all of them go back, and nothing is logged.
  MendProcess own({"simulate", "rollback", "--processes", "32", "--clusters", "1", "--pattern", "FT"});
  EXPECT_EQ(own.wait(), 0) << own.errors();
  EXPECT_THAT(own.output(), AllOf(HasSubstr(" 0.00 % of the messages"), HasSubstr("100.00 % of the processes")));
}

TEST(MendSimulate, tells_what_failures_cost_under_both_kinds_of_rollback) {
  const std::vector<std::string> line{"simulate", "rollback",    "--failures", "--nodes", "1024", "--state-per-rank",
                                      "1GiB",     "--node-mtbf", "1y,5y",      "--runs",  "3"};
  MendProcess first(line);
  EXPECT_EQ(first.wait(), 0) << first.errors();
  EXPECT_THAT(first.output(), AllOf(HasSubstr("1y"), HasSubstr("5y"), HasSubstr("global"), HasSubstr("local")));
  MendProcess second(line);
  EXPECT_EQ(second.wait(), 0) << second.errors();
  EXPECT_EQ(first.output(), second.output());
}

TEST(MendSimulate, tells_what_is_lost_if_clusters_commit_at_different_times) {
  MendProcess table({"simulate", "rollback", "--figure", "commits"});
  EXPECT_EQ(table.wait(), 0) << table.errors();
  EXPECT_THAT(
      table.output(),
      HasSubstr("grid             16         1.0         11.0          4.0         4.0         11.0          4.0"));
  MendProcess own({"simulate", "rollback", "--figure", "commits", "--ranks", "12", "--cluster-counts", "3", "--steps",
                   "9", "--exchange-every", "3", "--network-share", "0.5"});
  EXPECT_EQ(own.wait(), 0) << own.errors();
  EXPECT_THAT(
      own.output(),
      HasSubstr("all / 3           3         1.0          3.0          3.0         2.0          3.0          3.0"));
}

TEST(MendSimulate, tells_what_to_expect_of_a_recovery_at_the_users_own_scale) {
  const support::ScratchFolder scratch;
  const std::string file = scratch.path() / "recovery.json";
  MendProcess run(
      {"simulate", "recovery", "--processes", "16,256", "--latency", "5", "--state-per-rank", "1MiB", "--json", file});
  EXPECT_EQ(run.wait(), 0) << run.errors();
  EXPECT_THAT(run.output(), AllOf(HasSubstr("Rounds"), HasSubstr("job decision"), HasSubstr("log n"),
                                  HasSubstr("Not logarithmic"), Not(HasSubstr("start process"))));
  std::ifstream in(file);
  const auto columns = nlohmann::json::parse(in);
  ASSERT_EQ(columns.size(), 2U);
  for (const auto& column : columns) {
    double sum = 0;
    for (const auto& [name, phase] : column["phases"].items()) sum += phase["ms"].get<double>();
    EXPECT_NEAR(sum, column["total_ms"].get<double>(), 0.1);
    // Eight latencies at least, in what is shrunk by four agreements: up a tree and down.
    EXPECT_GT(column["phases"]["shrink"]["ms"].get<double>(), 8 * 0.005);
  }
  MendProcess slow(
      {"simulate", "recovery", "--processes", "16,256", "--latency", "50", "--state-per-rank", "1MiB", "--json", file});
  EXPECT_EQ(slow.wait(), 0) << slow.errors();
  std::ifstream again(file);
  EXPECT_GT(nlohmann::json::parse(again)[1]["phases"]["split"]["ms"].get<double>(),
            5 * columns[1]["phases"]["split"]["ms"].get<double>());
}

TEST(MendSimulate, tells_what_starting_a_process_adds_to_a_recovery) {
  MendProcess run({"simulate", "recovery", "--processes", "12", "--failures", "2", "--on-failure", "spawn",
                   "--found-by", "silence", "--start-process", "80ms", "--another-after", "2ms", "--redundancy",
                   "replicas:2"});
  EXPECT_EQ(run.wait(), 0) << run.errors();
  EXPECT_THAT(run.output(),
              AllOf(HasSubstr("start process"), HasSubstr("greet, merge"), HasSubstr("by silence"), HasSubstr("80.")));
}

TEST(MendSimulate, says_why_its_numbers_cannot_be_written) {
  MendProcess run({"simulate", "detector", "--processes", "16", "--timeout", "4s", "--json", "/dev/full"});
  EXPECT_EQ(run.wait(), 1);
  EXPECT_EQ(run.errors(), "mend: --json /dev/full cannot be written: No space left on device\n");
}

TEST(MendSimulate, refuses_what_it_does_not_know_in_one_sentence) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"simulate"},
        {"simulate", "weather"},
        {"simulate", "--all-figures", "--quick"},
        {"simulate", "agreement", "--figure", "9z"},
        {"simulate", "agreement", "--latency", "5"},
        {"simulate", "agreement", "--figure", "era-2a", "--processes", "100"},
        {"simulate", "detector", "--timeout", "2s"},
        {"simulate", "detector", "--quick", "--processes", "16"},
        {"simulate", "detector", "--processes", "1"},
        {"simulate", "detector", "--processes", "8", "--failures", "3"},
        {"simulate", "detector", "--processes", "8", "--timeout", "100ms"},
        {"simulate", "detector", "--processes", "8", "--timeout", "soon"},
        {"simulate", "detector", "--processes", "1000000", "--heartbeat", "1ms"},
        {"simulate", "rollback", "--processes", "100", "--pattern", "CG"},
        {"simulate", "rollback", "--processes", "8", "--clusters", "9"},
        {"simulate", "rollback", "--clusters", "9"},
        {"simulate", "rollback", "--ranks", "9"},
        {"simulate", "rollback", "--figure", "replay-I", "--ranks", "9"},
        {"simulate", "rollback", "--figure", "commits", "--ranks", "9"},
        {"simulate", "rollback", "--figure", "commits", "--steps", "1000000"},
        {"simulate", "rollback", "--figure", "commits", "--network-share", "0"},
        {"simulate", "recovery", "--processes", "1"},
        {"simulate", "recovery", "--processes", "8", "--failures", "8"},
        {"simulate", "recovery", "--processes", "8", "--failures", "2", "--spares", "1"},
        {"simulate", "recovery", "--processes", "8", "--told-after", "soon"},
        {"simulate", "recovery", "--processes", "8", "--on-failure", "hope"},
        {"simulate", "rollback", "--failures"},
        {"simulate", "rollback", "--failures", "--nodes", "8"},
        {"simulate", "rollback", "--failures", "--nodes", "8", "--commit-cost", "soon"},
        {"simulate", "rollback", "--failures", "--nodes", "8", "--commit-cost", "2s", "--node-mtbf", "8s"}}) {
    MendProcess run(arguments);
    EXPECT_EQ(run.wait(), 2);
    EXPECT_EQ(std::count(run.errors().begin(), run.errors().end(), '\n'), 1) << run.errors();
  }
}

}  // namespace
