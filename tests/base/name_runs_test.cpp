#include "base/name_runs.hpp"

#include <gtest/gtest.h>

namespace mend {
namespace {

TEST(Ranks, are_named_in_runs) {
  EXPECT_EQ(name_ranks({Rank{3}}), "rank 3");
  EXPECT_EQ(name_ranks({Rank{0}, Rank{1}, Rank{3}}), "ranks 0, 1, 3");
  EXPECT_EQ(name_ranks({Rank{0}, Rank{2}, Rank{3}, Rank{4}, Rank{9}}), "ranks 0, 2-4, 9");
}

TEST(Processes, are_named_in_runs) {
  EXPECT_EQ(name_processes({ProcessId{3}}), "process 3");
  EXPECT_EQ(name_processes({ProcessId{9}, ProcessId{2}, ProcessId{3}, ProcessId{4}}), "processes 2-4, 9");
}

TEST(Counted, things_are_named_as_one_or_several) {
  EXPECT_EQ(mend::counted(1, "spare"), "1 spare");
  EXPECT_EQ(mend::counted(0, "spare"), "0 spares");
  EXPECT_EQ(mend::counted(1, "recovery", "recoveries"), "1 recovery");
  EXPECT_EQ(mend::counted(2, "recovery", "recoveries"), "2 recoveries");
}

}  // namespace
}  // namespace mend
