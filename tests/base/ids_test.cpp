#include "base/ids.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <type_traits>
#include <unordered_set>

namespace {

using namespace mend;

TEST(Ids, of_different_kinds_do_not_mix) {
  static_assert(!std::is_convertible_v<Rank, ProcessId> && !std::is_convertible_v<ProcessId, Rank>);
  static_assert(!std::is_convertible_v<int, Rank> && !std::is_convertible_v<unsigned, ProcessId>);
  static_assert(!std::is_convertible_v<Epoch, Version>);
  EXPECT_EQ(Rank{1}.value, 1);
}

template <class A, class B>
concept Comparable = requires(A a, B b) {
  a == b;
};
template <class A, class B>
concept Ordered = requires(A a, B b) {
  a < b;
};

TEST(Ids, of_different_kinds_cannot_be_compared) {
  static_assert(Comparable<Rank, Rank> && Ordered<Rank, Rank> && Comparable<Rank, int> && Ordered<int, Rank>);
  static_assert(!Comparable<Rank, ProcessId> && !Ordered<Rank, ProcessId>);
  static_assert(!Comparable<ProcessId, NodeId> && !Ordered<Epoch, Version> && !Comparable<Epoch, ProcessId>);
}

int send_to(int rank) { return rank; }  // as MPI's functions take a rank

TEST(Ids, are_numbers_where_numbers_are_wanted) {
  constexpr Rank rank{3};
  EXPECT_EQ(send_to(rank), 3);
  const int of_mpi = rank;
  EXPECT_TRUE(rank == of_mpi && rank != 0 && rank < 4 && 2 < rank);
  EXPECT_EQ((rank + 1) % 4, 0);
  EXPECT_TRUE(Version{7} == 7U && Version{7} % 5U == 2U && ProcessId{1} == 1U && Epoch{} == 0U && NodeId{2} > 1U);
  std::ostringstream text;
  text << rank << ' ' << Version{7};
  EXPECT_EQ(text.str(), "3 7");
}

TEST(Ids, count_on) {
  EXPECT_EQ(Epoch{}.next(), Epoch{1});
  EXPECT_EQ(Version{41}.next(), Version{42});
  EXPECT_LT(Version{1}, Version{2});
}

TEST(Ids, of_processes_can_be_kept_in_hash_tables) {
  const std::unordered_set<ProcessId> set{ProcessId{1}, ProcessId{2}, ProcessId{1}};
  EXPECT_EQ(set.size(), 2U);
}

}  // namespace
