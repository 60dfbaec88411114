#include "fenix/process/slots.hpp"

#include <gmock/gmock.h>

namespace {

using mend::Loss;
using mend::ProcessId;
using mend::Rank;
using mend::RecoveryReport;
using mend::Replacement;
using mend::fenix::slots_after;
using mend::fenix::successor_of;
using testing::ElementsAre;

RecoveryReport recovery(std::vector<Replacement> replaced, std::vector<Loss> lost) {
  RecoveryReport report;
  report.replacements = std::move(replaced);
  report.given_up = std::move(lost);
  return report;
}

TEST(Slots, stay_when_ranks_are_taken_over) {
  const std::vector<RecoveryReport> one{recovery({{Rank{1}, ProcessId{1}, ProcessId{4}}}, {})};
  EXPECT_THAT(slots_after(one, 4), ElementsAre(0, 1, 2, 3));
}

TEST(Slots, are_left_by_ranks_that_are_given_up_while_the_others_close_up) {
  const std::vector<RecoveryReport> two{recovery({}, {{Rank{0}, ProcessId{0}}, {Rank{2}, ProcessId{2}}}),
                                        recovery({}, {{Rank{1}, ProcessId{3}}})};
  EXPECT_THAT(slots_after(std::span(two).first(1), 4), ElementsAre(1, 3));
  EXPECT_THAT(slots_after(two, 4), ElementsAre(1));
}

TEST(Successor, is_found_through_several_deaths_until_a_rank_is_given_up) {
  const std::vector<RecoveryReport> three{recovery({{Rank{1}, ProcessId{1}, ProcessId{4}}}, {}),
                                          recovery({{Rank{1}, ProcessId{4}, ProcessId{5}}}, {}),
                                          recovery({}, {{Rank{1}, ProcessId{5}}})};
  EXPECT_EQ(successor_of(ProcessId{1}, std::span(three).first(1)), ProcessId{4});
  EXPECT_EQ(successor_of(ProcessId{1}, std::span(three).first(2)), ProcessId{5});
  EXPECT_EQ(successor_of(ProcessId{1}, three), std::nullopt);
  EXPECT_EQ(successor_of(ProcessId{0}, three), ProcessId{0});
}

}  // namespace
