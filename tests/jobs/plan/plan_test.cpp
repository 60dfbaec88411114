// Compares the model of mend plan with simulated jobs. The simulation does not use the formulas: nodes live for random
// times; it runs through work, commits and recoveries, and counts what happens.

#include "base/error.hpp"
#include "jobs/plan/model.hpp"
#include "jobs/plan/picture.hpp"
#include "jobs/plan/quantities.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <vector>

namespace {

using namespace mend::jobs;
using mend::Redundancy;
using mend::Seconds;
using mend::UsageError;
using testing::HasSubstr;

enum class End { finished, out_of_spares, data_lost };

/// Returns true if the data of the job is lost when these of its nodes are dead at once.
using Loses = std::function<bool(const std::set<int>& dead)>;

/// Runs one job after another until the work is done.
class SimulatedJob {
 public:
  SimulatedJob(const Scenario& scenario, Seconds interval, Loses loses, std::mt19937_64& random)
      : scenario_(scenario), interval_(interval.count()), loses_(std::move(loses)), random_(random) {}

  /// Runs one launch; advances `time`.
  End launch() {
    deaths_.clear();
    for (int node = 0; node < scenario_.nodes; ++node) deaths_.push_back(time + life());
    spares_.clear();
    for (int node = 0; node < scenario_.spare_nodes; ++node) spares_.push_back(time + life());
    while (done_ < scenario_.work.count()) {
      const double piece = std::min(interval_, scenario_.work.count() - done_);
      const bool to_disk = scenario_.disk && (commits_ + 1) % scenario_.disk->every == 0;
      const double until = time + piece + scenario_.commit_cost.count() + (to_disk ? scenario_.disk->cost.count() : 0);
      if (*std::ranges::min_element(deaths_) >= until) {
        time = until;
        done_ += piece;
        ++commits_;
        if (being_written_ >= 0) on_disk_ = being_written_;
        being_written_ = to_disk ? done_ : -1;
      } else if (const End end = recover(); end != End::finished) {
        return end;
      }
    }
    return End::finished;
  }

  /// Continues with what is left: after the last spare, all committed data; after a loss, the data on disk.
  void requeue(End end) {
    time += scenario_.requeue.count();
    if (!scenario_.disk) {
      done_ = 0;
    } else if (end == End::data_lost) {
      done_ = on_disk_;
    }
    being_written_ = -1;
  }

  double time = 0;
  int failures = 0;

 private:
  double life() { return std::exponential_distribution(1 / scenario_.node_mtbf.count())(random_); }

  End recover() {
    std::set<int> dead;
    double restored = 0;
    do {
      const auto first = std::ranges::min_element(deaths_);
      time = *first;
      ++failures;
      dead.insert(static_cast<int>(first - deaths_.begin()));
      if (loses_(dead)) return End::data_lost;
      std::erase_if(spares_, [&](double death) { return death <= time; });
      if (spares_.empty()) return End::out_of_spares;
      *first = spares_.back();
      spares_.pop_back();
      restored = time + scenario_.recovery.count();
    } while (*std::ranges::min_element(deaths_) < restored);
    time = restored;
    return End::finished;
  }

  const Scenario& scenario_;
  double interval_;
  Loses loses_;
  std::mt19937_64& random_;
  std::vector<double> deaths_;
  std::vector<double> spares_;
  double done_ = 0;
  int commits_ = 0;
  double on_disk_ = 0;
  double being_written_ = -1;
};

struct Observed {
  double elapsed = 0;
  double failures = 0;
  double out_of_spares = 0;
  double data_loss = 0;
  double until_done = 0;
};

constexpr int jobs = 10'000;

Observed simulate(const Scenario& scenario, const Loses& loses, bool until_done) {
  std::mt19937_64 random(20);
  const Seconds interval = forecast(scenario).interval;
  Observed sum;
  for (int i = 0; i < jobs; ++i) {
    SimulatedJob job(scenario, interval, loses, random);
    End end = job.launch();
    sum.elapsed += job.time / jobs;
    sum.failures += static_cast<double>(job.failures) / jobs;
    if (end == End::out_of_spares) sum.out_of_spares += 1.0 / jobs;
    if (end == End::data_lost) sum.data_loss += 1.0 / jobs;
    for (; until_done && end != End::finished; end = job.launch()) job.requeue(end);
    sum.until_done += job.time / jobs;
  }
  return sum;
}

MATCHER_P(IsWithin5PercentOf, expected, "") { return std::abs(arg / expected - 1) < 0.05; }

bool never(const std::set<int>&) { return false; }

/// Copies are on the next node.
bool neighbours(const std::set<int>& dead) {
  return std::ranges::any_of(dead, [&](int node) { return dead.contains((node + 1) % 16); });
}

Scenario sixteen_nodes() {
  Scenario scenario;
  scenario.nodes = 16;
  scenario.node_mtbf = Seconds(16 * 3600);  // a failure an hour
  scenario.work = Seconds(24 * 3600);
  scenario.commit_cost = Seconds(10);
  scenario.recovery = Seconds(60);
  scenario.redundancy = Redundancy::parse("partner");
  scenario.requeue = Seconds(3600);
  return scenario;
}

TEST(PlanModel, agrees_with_10000_simulated_jobs_on_time_and_failures) {
  Scenario scenario = sixteen_nodes();
  scenario.spare_nodes = 400;
  const Forecast planned = forecast(scenario);
  const Observed observed = simulate(scenario, never, false);
  EXPECT_THAT(planned.elapsed.count(), IsWithin5PercentOf(observed.elapsed));
  EXPECT_THAT(planned.overhead, IsWithin5PercentOf(observed.elapsed / scenario.work.count() - 1));
  EXPECT_THAT(planned.failures, IsWithin5PercentOf(observed.failures));
}

TEST(PlanModel, agrees_with_10000_simulated_jobs_on_spares) {
  Scenario scenario = sixteen_nodes();
  scenario.node_mtbf = Seconds(20 * 24 * 3600);
  for (const int spares : {0, 1}) {
    scenario.spare_nodes = spares;
    const Observed observed = simulate(scenario, never, false);
    EXPECT_GT(observed.out_of_spares, 0.08);
    EXPECT_THAT(forecast(scenario).out_of_spares, IsWithin5PercentOf(observed.out_of_spares)) << spares;
  }
}

TEST(PlanModel, agrees_with_10000_simulated_jobs_on_lost_data) {
  Scenario scenario = sixteen_nodes();
  scenario.spare_nodes = 400;
  scenario.recovery = Seconds(400);
  const Observed copies = simulate(scenario, neighbours, false);
  EXPECT_GT(copies.data_loss, 0.1);
  EXPECT_THAT(forecast(scenario).data_loss, IsWithin5PercentOf(copies.data_loss));

  // Nodes 0, 4, 8 and 12 are a group, and so on.
  scenario.redundancy = Redundancy::parse("xor:4");
  scenario.recovery = Seconds(150);
  const Observed groups = simulate(
      scenario,
      [](const std::set<int>& dead) {
        std::set<int> seen;
        return !std::ranges::all_of(dead, [&](int node) { return seen.insert(node % 4).second; });
      },
      false);
  EXPECT_GT(groups.data_loss, 0.1);
  EXPECT_THAT(forecast(scenario).data_loss, IsWithin5PercentOf(groups.data_loss));
}

TEST(PlanModel, agrees_with_10000_simulated_jobs_on_the_time_until_the_work_is_done) {
  Scenario scenario = sixteen_nodes();
  scenario.recovery = Seconds(120);
  scenario.node_mtbf = Seconds(48 * 3600);
  scenario.spare_nodes = 10;
  const Observed without = simulate(scenario, neighbours, true);
  EXPECT_GT(without.out_of_spares + without.data_loss, 0.2);
  EXPECT_THAT(forecast(scenario).until_done.count(), IsWithin5PercentOf(without.until_done));
  scenario.disk = Scenario::Disk{.every = 10, .cost = Seconds(10)};
  scenario.spare_nodes = 3;
  const Observed with = simulate(scenario, neighbours, true);
  EXPECT_GT(with.out_of_spares, 0.5);
  EXPECT_THAT(forecast(scenario).until_done.count(), IsWithin5PercentOf(with.until_done));
}

TEST(PlanModel, finds_the_fewest_spares_that_are_enough) {
  Scenario scenario = sixteen_nodes();
  scenario.spare_nodes = spares_for(scenario, 0.01);
  EXPECT_LE(forecast(scenario).out_of_spares, 0.01);
  --scenario.spare_nodes;
  EXPECT_GT(forecast(scenario).out_of_spares, 0.01);
}

TEST(PlanModel, a_redundancy_that_survives_one_node_more_loses_less) {
  Scenario scenario = sixteen_nodes();
  scenario.ranks_per_node = 4;
  double before = 2;
  for (const char* name : {"local", "partner", "replicas:2"}) {
    scenario.redundancy = Redundancy::parse(name);
    const double now = forecast(scenario).data_loss;
    EXPECT_LT(now, before) << name;
    before = now;
  }
  EXPECT_GT(before, 0);
}

TEST(PlanModel, large_groups_are_counted_without_trying_all_their_sets) {
  Scenario scenario = sixteen_nodes();
  scenario.nodes = 240;
  scenario.redundancy = Redundancy::parse("rs:100+20");
  // 21 of the 120 nodes of one of the two groups.
  EXPECT_EQ(chance_of_loss(scenario, 20), 0);
  EXPECT_GT(chance_of_loss(scenario, 21), 0);
  scenario.nodes = 4;
  scenario.ranks_per_node = 30;
  // Thirty of the group's ranks are on each node.
  EXPECT_EQ(chance_of_loss(scenario, 1), 1);
}

TEST(PlanModel, the_daly_interval_is_the_best) {
  const Scenario scenario = sixteen_nodes();
  const Forecast best = forecast(scenario);
  EXPECT_GT(forecast(scenario, best.interval * 1.5).overhead, best.overhead);
  EXPECT_GT(forecast(scenario, best.interval / 1.5).overhead, best.overhead);
}

TEST(PlanModel, the_smaller_job_that_placements_are_counted_in_stands_for_the_large_one) {
  Scenario scenario = sixteen_nodes();
  scenario.nodes = 100'000;
  // In a ring of n nodes, n of the n (n-1) / 2 pairs are neighbours.
  EXPECT_NEAR(chance_of_loss(scenario, 2) * (scenario.nodes - 1) / 2, 1, 1e-6);
}

TEST(PlanQuantities, are_read_and_written_in_handy_units) {
  EXPECT_EQ(parse_time("90d"), std::chrono::hours(24 * 90));
  EXPECT_EQ(parse_time("2.5s"), Seconds(2.5));
  EXPECT_EQ(parse_size("2GiB"), 2147483648.0);
  EXPECT_EQ(parse_chance("1%"), 0.01);
  EXPECT_EQ(text_of(parse_time("36h")), "36h");
  EXPECT_EQ(text_of(parse_time("250ms")), "250ms");
  for (const char* text : {"", "h", "3 weeks", "-3h", "0", "inf", "nan", "1e999", "3hh", "90"})
    EXPECT_THROW(parse_time(text), UsageError) << text;
  for (const char* text : {"2gb", "GiB", "0B"}) EXPECT_THROW(parse_size(text), UsageError) << text;
  for (const char* text : {"100%", "2", "0"}) EXPECT_THROW(parse_chance(text), UsageError) << text;
}

TEST(PlanQuantities, chances_near_one_and_overheads_above_it_are_written_in_whole_percent) {
  EXPECT_EQ(chance_text(0.042), "4.2 %");
  EXPECT_EQ(chance_text(0.99), "99 %");
  EXPECT_EQ(chance_text(0.9999), "100 %");
  EXPECT_EQ(chance_text(1), "100 %");
  EXPECT_EQ(chance_text(1.5), "150 %");
  EXPECT_EQ(chance_text(1e30), "1e+32 %");
}

TEST(PlanPicture, is_a_drawing_with_the_planned_values_in_it) {
  Scenario scenario = sixteen_nodes();
  scenario.spare_nodes = 37;
  const Forecast planned = forecast(scenario);
  const std::string picture = picture_of(scenario, planned);
  EXPECT_TRUE(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
  EXPECT_THAT(picture, HasSubstr(">" + text_of(planned.interval) + ": "));
  EXPECT_THAT(picture, HasSubstr(">37: "));
  for (const char* const spares : {">0<", ">19<", ">37<", ">56<", ">74<"}) EXPECT_THAT(picture, HasSubstr(spares));
  EXPECT_THAT(picture, testing::Not(testing::AnyOf(HasSubstr("nan"), HasSubstr("inf"))));
}

}  // namespace
