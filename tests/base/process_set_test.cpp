#include "base/process_set.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <random>
#include <set>

namespace {

using mend::ProcessId;
using mend::ProcessSet;
using testing::ElementsAre;
using testing::IsEmpty;

using Model = std::set<ProcessId>;

ProcessSet::Run run(std::uint32_t first, std::uint32_t last) { return {ProcessId{first}, ProcessId{last}}; }

constexpr std::uint32_t greatest = std::numeric_limits<std::uint32_t>::max();

/// Compares the set with the model in all its functions.
void expect_same(const ProcessSet& set, const Model& model, std::uint32_t universe) {
  ASSERT_EQ(set.size(), model.size());
  ASSERT_EQ(set.empty(), model.empty());
  const auto members = set.members();
  ASSERT_TRUE(std::equal(members.begin(), members.end(), model.begin(), model.end()));
  std::size_t below = 0;
  for (std::uint32_t value = 0; value < universe; ++value) {
    const ProcessId process{value};
    ASSERT_EQ(set.contains(process), model.contains(process)) << value;
    ASSERT_EQ(set.count_below(process), below) << value;
    below += model.contains(process) ? 1 : 0;
  }
  for (std::size_t i = 1; i < set.runs().size(); ++i) {
    ASSERT_GT(set.runs()[i].first.value, set.runs()[i - 1].last.value + 1) << "runs must be apart: " << set.to_string();
  }
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t bound) {
    return std::uniform_int_distribution<std::uint32_t>(0, bound - 1)(engine_);
  }

  std::pair<ProcessSet, Model> set(std::uint32_t universe) {
    ProcessSet made;
    Model model;
    for (std::uint32_t i = below(universe); i > 0; --i) {
      const ProcessId process{below(universe)};
      made.insert(process);
      model.insert(process);
    }
    return {made, model};
  }

 private:
  std::mt19937 engine_;
};

TEST(ProcessSet, does_as_a_plain_set_does_whatever_comes_and_goes) {
  constexpr std::uint32_t universe = 24;
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ProcessSet set;
    Model model;
    for (int operation = 0; operation < 200; ++operation) {
      const ProcessId process{random.below(universe)};
      if (random.below(2) == 0) {
        ASSERT_EQ(set.insert(process), model.insert(process).second);
      } else {
        ASSERT_EQ(set.erase(process), model.erase(process) == 1);
      }
      ASSERT_NO_FATAL_FAILURE(expect_same(set, model, universe));
    }
  }
}

TEST(ProcessSet, does_as_plain_sets_do_in_pairs) {
  constexpr std::uint32_t universe = 16;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto [a, model_a] = random.set(universe);
    const auto [b, model_b] = random.set(universe);

    ASSERT_EQ(a.contains(b), std::includes(model_a.begin(), model_a.end(), model_b.begin(), model_b.end()));
    Model common;
    std::set_intersection(model_a.begin(), model_a.end(), model_b.begin(), model_b.end(),
                          std::inserter(common, common.end()));
    ASSERT_EQ(a.intersects(b), !common.empty());
    ASSERT_EQ(a == b, model_a == model_b);

    ProcessSet both = a;
    both.insert(b);
    Model model_both = model_a;
    model_both.insert(model_b.begin(), model_b.end());
    ASSERT_NO_FATAL_FAILURE(expect_same(both, model_both, universe));

    Model model_rest;
    std::set_difference(model_a.begin(), model_a.end(), model_b.begin(), model_b.end(),
                        std::inserter(model_rest, model_rest.end()));
    ASSERT_NO_FATAL_FAILURE(expect_same(difference(a, b), model_rest, universe));
  }
}

TEST(ProcessSet, keeps_neighbours_in_one_run) {
  ProcessSet set{ProcessId{3}, ProcessId{5}};
  EXPECT_THAT(set.runs(), ElementsAre(run(3, 3), run(5, 5)));
  set.insert(ProcessId{4});
  EXPECT_THAT(set.runs(), ElementsAre(run(3, 5)));
  set.erase(ProcessId{4});
  EXPECT_THAT(set.runs(), ElementsAre(run(3, 3), run(5, 5)));
}

TEST(ProcessSet, of_a_million_is_one_run) {
  const ProcessSet all = ProcessSet::first(1'000'000);
  EXPECT_THAT(all.runs(), ElementsAre(run(0, 999'999)));
  EXPECT_EQ(all.size(), 1'000'000U);
  EXPECT_EQ(all.count_below(ProcessId{500'000}), 500'000U);
}

TEST(ProcessSet, of_the_first_none_is_empty) { EXPECT_TRUE(ProcessSet::first(0).empty()); }

TEST(ProcessSet, goes_over_the_wire_as_its_runs) {
  const ProcessSet set{ProcessId{0}, ProcessId{4}, ProcessId{5}, ProcessId{9}};
  EXPECT_EQ(ProcessSet::from_runs(set.runs()), set);
}

TEST(ProcessSet, reads_well) {
  EXPECT_EQ(ProcessSet{}.to_string(), "{}");
  EXPECT_EQ((ProcessSet{ProcessId{0}, ProcessId{4}, ProcessId{5}, ProcessId{6}}.to_string()), "{0, 4-6}");
}

TEST(ProcessSet, bears_the_greatest_number_there_is) {
  ProcessSet set{ProcessId{greatest}};
  EXPECT_TRUE(set.contains(ProcessId{greatest}));
  EXPECT_FALSE(set.insert(ProcessId{greatest}));
  EXPECT_TRUE(set.insert(ProcessId{0})) << "0 is no neighbour of the greatest";
  EXPECT_THAT(set.runs(), ElementsAre(run(0, 0), run(greatest, greatest)));
  EXPECT_TRUE(set.insert(ProcessId{greatest - 1}));
  EXPECT_THAT(set.runs(), ElementsAre(run(0, 0), run(greatest - 1, greatest)));
  EXPECT_EQ(set.members().size(), 3U);
  EXPECT_TRUE(set.erase(ProcessId{greatest}));
  ProcessSet other{ProcessId{greatest}};
  other.insert(set);
  EXPECT_THAT(other.runs(), ElementsAre(run(0, 0), run(greatest - 1, greatest)));
}

TEST(ProcessSet, forgets_all_when_cleared) {
  ProcessSet set = ProcessSet::first(3);
  set.clear();
  EXPECT_TRUE(set.empty());
  EXPECT_THAT(set.members(), IsEmpty());
}

TEST(Difference, of_large_sets_costs_their_runs_and_not_their_members) {
  const ProcessSet all = ProcessSet::first(greatest);
  ProcessSet without_one = all;
  without_one.erase(ProcessId{7});
  EXPECT_THAT(difference(all, without_one).runs(), ElementsAre(run(7, 7)));
}

}  // namespace
