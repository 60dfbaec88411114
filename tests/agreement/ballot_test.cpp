// The ballot and its rule, for every mixture of motions of up to four ranks.

#include "agreement/ballot.hpp"
#include "agreement/find_members.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace mend::agreement;

/// The results of a test's agreements, and the contributions to them.
struct Meeting {
  std::uint32_t others = ~0U;
  bool somebody_died = false;
  std::vector<std::uint32_t> others_later;  // in the second agreement, and so on; as in the first if there are no more
  std::vector<std::uint32_t> contributions;
};

/// One rank's view of a meeting that the test arranges.
class Arranged final : public Agreement {
 public:
  explicit Arranged(Meeting& meeting) : meeting_(meeting) {}
  Outcome agree(std::uint32_t contribution) override {
    const std::size_t before = meeting_.contributions.size();
    meeting_.contributions.push_back(contribution);
    const auto& later = meeting_.others_later;
    const bool is_later = before > 0 && before <= later.size();
    return {contribution & (is_later ? later[before - 1] : meeting_.others), meeting_.somebody_died};
  }

 private:
  Meeting& meeting_;
};

Ballot ballot_in(Meeting& meeting, int rank = 0, int ranks = 4) {
  return Ballot(std::make_unique<Arranged>(meeting), mend::Rank{rank}, ranks);
}

struct Vote {
  Motion motion;
  bool in_favour = true;
};

constexpr std::array<Motion, 7> all_motions{Motion::commit, Motion::restore, Motion::flag,   Motion::finish,
                                            Motion::disk,   Motion::recover, Motion::abandon};

std::uint32_t contribution_of(Vote vote) {
  Meeting alone;
  ballot_in(alone).cast(vote.motion, vote.in_favour);
  return alone.contributions.front();
}

/// Returns the ruling for each voter.
std::vector<Ruling> rulings(const std::vector<Vote>& votes, bool somebody_died = false) {
  Meeting meeting;
  meeting.somebody_died = somebody_died;
  for (Vote vote : votes) meeting.others &= contribution_of(vote);
  std::vector<Ruling> told;
  for (Vote vote : votes) told.push_back(ballot_in(meeting).cast(vote.motion, vote.in_favour));
  return told;
}

Ruling expected(const std::vector<Vote>& votes, bool somebody_died) {
  const auto any = [&](Motion motion) {
    return std::any_of(votes.begin(), votes.end(), [&](Vote vote) { return vote.motion == motion; });
  };
  if (any(Motion::abandon)) return Ruling::abandon;
  if (any(Motion::recover) || somebody_died) return Ruling::recover;
  for (Vote vote : votes) {
    if (vote.motion != votes.front().motion) return Ruling::confused;
  }
  const bool all_in_favour = std::all_of(votes.begin(), votes.end(), [](Vote vote) { return vote.in_favour; });
  return all_in_favour ? Ruling::carried : Ruling::rejected;
}

void check_all(std::vector<Vote>& votes, std::size_t count) {
  if (votes.size() == count) {
    for (bool somebody_died : {false, true}) {
      for (Ruling ruling : rulings(votes, somebody_died)) ASSERT_EQ(ruling, expected(votes, somebody_died));
    }
    return;
  }
  for (Motion motion : all_motions) {
    for (bool in_favour : {false, true}) {
      votes.push_back({motion, in_favour});
      check_all(votes, count);
      votes.pop_back();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Ballot, rules_the_same_for_all_whatever_they_came_for) {
  for (std::size_t count = 1; count <= 4; ++count) {
    std::vector<Vote> votes;
    check_all(votes, count);
  }
}

TEST(Ballot, keeps_to_the_31_bits_that_an_agreement_carries) {
  for (Motion motion : all_motions) EXPECT_EQ(contribution_of({motion, true}) >> 31U, 0U);
}

TEST(Ballot, once_interrupted_repeats_it_and_asks_nobody_any_more) {
  for (Motion last : {Motion::recover, Motion::abandon}) {
    Meeting meeting;
    Ballot ballot = ballot_in(meeting);
    EXPECT_EQ(ballot.cast(Motion::commit, true), Ruling::carried);
    const Ruling end = ballot.cast(last, true);
    EXPECT_EQ(end, last == Motion::recover ? Ruling::recover : Ruling::abandon);
    EXPECT_EQ(ballot.cast(Motion::commit, true), end);
    EXPECT_EQ(ballot.cast(Motion::finish, false), end);
    EXPECT_EQ(meeting.contributions.size(), 2U);
  }
}

TEST(Ballot, after_confusion_goes_on_so_that_all_can_give_up) {
  Meeting meeting;
  meeting.others = contribution_of({Motion::flag});
  Ballot ballot = ballot_in(meeting);
  EXPECT_EQ(ballot.cast(Motion::commit, true), Ruling::confused);
  EXPECT_EQ(ballot.cast(Motion::abandon, true), Ruling::abandon);
}

TEST(Vote, returns_whether_the_motion_was_carried) {
  Meeting meeting;
  EXPECT_TRUE(ballot_in(meeting).vote(Motion::flag, true));
  EXPECT_FALSE(ballot_in(meeting).vote(Motion::flag, false));
  meeting.others = contribution_of({Motion::flag, false});
  EXPECT_FALSE(ballot_in(meeting).vote(Motion::flag, true));
}

TEST(Vote, throws_what_ends_it) {
  Meeting death;
  death.somebody_died = true;
  EXPECT_THROW(ballot_in(death).vote(Motion::commit, true), mend::ProcessFailure);
  Meeting interrupted;
  interrupted.others = contribution_of({Motion::recover});
  EXPECT_THROW(ballot_in(interrupted).vote(Motion::commit, true), mend::ProcessFailure);
  Meeting given_up;
  given_up.others = contribution_of({Motion::abandon});
  EXPECT_THROW(ballot_in(given_up).vote(Motion::commit, true), Abandoned);
}

/// Returns the bits that find_members expects from an agreement if the condition holds for `members`.
std::uint32_t those(std::initializer_list<unsigned> members) {
  std::uint32_t bits = (1U << 31U) - 1;
  for (const unsigned member : members) bits &= ~(1U << member);
  return bits;
}

TEST(Vote, tells_ranks_that_lost_each_other_who_of_them_is_where) {
  Meeting meeting;
  meeting.others = contribution_of({Motion::flag}) & contribution_of({Motion::finish});
  meeting.others_later = {those({2}), those({3}), those({1})};
  Ballot ballot = ballot_in(meeting);
  const std::string sentence =
      "ranks 0, 2 are in commit(), rank 3 is in agree(), rank 1 is at the end of the body: every rank must come to "
      "these in the same order";
  try {
    ballot.vote(Motion::commit, true);
    FAIL() << "carried though another came for something else";
  } catch (const OrderError& error) {
    EXPECT_EQ(error.what(), sentence);
  }
  EXPECT_EQ(ballot.confusion(), sentence);
  EXPECT_EQ(meeting.contributions.size(), 4U);
}

TEST(Vote, that_is_carried_takes_one_agreement) {
  Meeting meeting;
  ballot_in(meeting).vote(Motion::commit, true);
  EXPECT_EQ(meeting.contributions.size(), 1U);
}

TEST(Vote, of_ranks_that_lost_each_other_is_interrupted_by_a_death_while_they_say_where_they_are) {
  /// A member dies in the second agreement.
  class Dying final : public Agreement {
   public:
    Outcome agree(std::uint32_t contribution) override {
      const bool is_first = std::exchange(is_first_, false);
      return {contribution & (is_first ? contribution_of({Motion::flag}) : ~0U), !is_first};
    }

   private:
    bool is_first_ = true;
  };
  Ballot ballot(std::make_unique<Dying>(), mend::Rank{0}, 2);
  EXPECT_EQ(ballot.cast(Motion::commit, true), Ruling::recover);
  EXPECT_TRUE(ballot.is_closed());
}

TEST(FindMembers, are_found_by_as_many_agreements_as_are_needed) {
  Meeting meeting;
  meeting.others = those({2, 30});
  meeting.others_later = {those({0}), those({1})};
  const auto found = find_members(*std::make_unique<Arranged>(meeting), 32, 64, true);
  EXPECT_THAT(found.value(), testing::ElementsAre(2, 30, 31, 32, 63));
}

}  // namespace
