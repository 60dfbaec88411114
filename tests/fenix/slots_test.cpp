#include "fenix/process/slots.hpp"

#include <gmock/gmock.h>

namespace {

using mend::LostRank;
using mend::ProcessId;
using mend::Rank;
using mend::RecoveryReport;
using mend::Replacement;
using mend::fenix::successor_of;

RecoveryReport recovery(std::vector<Replacement> replaced, std::vector<LostRank> lost) {
  RecoveryReport report;
  report.replacements = std::move(replaced);
  report.given_up = std::move(lost);
  return report;
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
