// The ballot and its rule, for every mixture of proposals of up to four ranks.

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
  Proposal proposal;
  bool in_favour = true;
};

constexpr std::array<Proposal, 7> all_proposals{Proposal::commit, Proposal::restore, Proposal::flag,   Proposal::finish,
                                                Proposal::disk,   Proposal::recover, Proposal::abandon};

std::uint32_t contribution_of(Vote vote) {
  Meeting alone;
  ballot_in(alone).cast(vote.proposal, vote.in_favour);
  return alone.contributions.front();
}

/// Returns the result for each voter.
std::vector<BallotResult> results(const std::vector<Vote>& votes, bool somebody_died = false) {
  Meeting meeting;
  meeting.somebody_died = somebody_died;
  for (Vote vote : votes) meeting.others &= contribution_of(vote);
  std::vector<BallotResult> told;
  for (Vote vote : votes) told.push_back(ballot_in(meeting).cast(vote.proposal, vote.in_favour));
  return told;
}

BallotResult expected(const std::vector<Vote>& votes, bool somebody_died) {
  const auto any = [&](Proposal proposal) {
    return std::any_of(votes.begin(), votes.end(), [&](Vote vote) { return vote.proposal == proposal; });
  };
  if (any(Proposal::abandon)) return BallotResult::abandon;
  if (any(Proposal::recover) || somebody_died) return BallotResult::recover;
  for (Vote vote : votes) {
    if (vote.proposal != votes.front().proposal) return BallotResult::confused;
  }
  const bool all_in_favour = std::all_of(votes.begin(), votes.end(), [](Vote vote) { return vote.in_favour; });
  return all_in_favour ? BallotResult::accepted : BallotResult::rejected;
}

void check_all(std::vector<Vote>& votes, std::size_t count) {
  if (votes.size() == count) {
    for (bool somebody_died : {false, true}) {
      for (BallotResult result : results(votes, somebody_died)) ASSERT_EQ(result, expected(votes, somebody_died));
    }
    return;
  }
  for (Proposal proposal : all_proposals) {
    for (bool in_favour : {false, true}) {
      votes.push_back({proposal, in_favour});
      check_all(votes, count);
      votes.pop_back();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Ballot, gives_all_the_same_result_whatever_they_propose) {
  for (std::size_t count = 1; count <= 4; ++count) {
    std::vector<Vote> votes;
    check_all(votes, count);
  }
}

TEST(Ballot, keeps_to_the_31_bits_that_an_agreement_carries) {
  for (Proposal proposal : all_proposals) EXPECT_EQ(contribution_of({proposal, true}) >> 31U, 0U);
}

TEST(Ballot, once_interrupted_repeats_it_and_asks_nobody_any_more) {
  for (Proposal last : {Proposal::recover, Proposal::abandon}) {
    Meeting meeting;
    Ballot ballot = ballot_in(meeting);
    EXPECT_EQ(ballot.cast(Proposal::commit, true), BallotResult::accepted);
    const BallotResult end = ballot.cast(last, true);
    EXPECT_EQ(end, last == Proposal::recover ? BallotResult::recover : BallotResult::abandon);
    EXPECT_EQ(ballot.cast(Proposal::commit, true), end);
    EXPECT_EQ(ballot.cast(Proposal::finish, false), end);
    EXPECT_EQ(meeting.contributions.size(), 2U);
  }
}

TEST(Ballot, after_confusion_goes_on_so_that_all_can_give_up) {
  Meeting meeting;
  meeting.others = contribution_of({Proposal::flag});
  Ballot ballot = ballot_in(meeting);
  EXPECT_EQ(ballot.cast(Proposal::commit, true), BallotResult::confused);
  EXPECT_EQ(ballot.cast(Proposal::abandon, true), BallotResult::abandon);
}

TEST(Vote, returns_whether_the_proposal_was_carried) {
  Meeting meeting;
  EXPECT_TRUE(ballot_in(meeting).vote(Proposal::flag, true));
  EXPECT_FALSE(ballot_in(meeting).vote(Proposal::flag, false));
  meeting.others = contribution_of({Proposal::flag, false});
  EXPECT_FALSE(ballot_in(meeting).vote(Proposal::flag, true));
}

TEST(Vote, throws_what_ends_it) {
  Meeting death;
  death.somebody_died = true;
  EXPECT_THROW(ballot_in(death).vote(Proposal::commit, true), mend::ProcessFailure);
  Meeting interrupted;
  interrupted.others = contribution_of({Proposal::recover});
  EXPECT_THROW(ballot_in(interrupted).vote(Proposal::commit, true), mend::ProcessFailure);
  Meeting given_up;
  given_up.others = contribution_of({Proposal::abandon});
  EXPECT_THROW(ballot_in(given_up).vote(Proposal::commit, true), Abandoned);
}

/// Returns the bits that find_members expects from an agreement if the condition holds for `members`.
std::uint32_t those(std::initializer_list<unsigned> members) {
  std::uint32_t bits = (1U << 31U) - 1;
  for (const unsigned member : members) bits &= ~(1U << member);
  return bits;
}

TEST(Vote, tells_ranks_that_lost_each_other_who_of_them_is_where) {
  Meeting meeting;
  meeting.others = contribution_of({Proposal::flag}) & contribution_of({Proposal::finish});
  meeting.others_later = {those({2}), those({3}), those({1})};
  Ballot ballot = ballot_in(meeting);
  const std::string sentence =
      "ranks 0, 2 are in commit(), rank 3 is in agree(), rank 1 is at the end of the body: every rank must come to "
      "these in the same order";
  try {
    ballot.vote(Proposal::commit, true);
    FAIL() << "accepted though another proposed something else";
  } catch (const OrderError& error) {
    EXPECT_EQ(error.what(), sentence);
  }
  EXPECT_EQ(ballot.confusion(), sentence);
  EXPECT_EQ(meeting.contributions.size(), 4U);
}

TEST(Vote, that_is_carried_takes_one_agreement) {
  Meeting meeting;
  ballot_in(meeting).vote(Proposal::commit, true);
  EXPECT_EQ(meeting.contributions.size(), 1U);
}

TEST(Vote, of_ranks_that_lost_each_other_is_interrupted_by_a_death_while_they_say_where_they_are) {
  /// A member dies in the second agreement.
  class Dying final : public Agreement {
   public:
    Outcome agree(std::uint32_t contribution) override {
      const bool is_first = std::exchange(is_first_, false);
      return {contribution & (is_first ? contribution_of({Proposal::flag}) : ~0U), !is_first};
    }

   private:
    bool is_first_ = true;
  };
  Ballot ballot(std::make_unique<Dying>(), mend::Rank{0}, 2);
  EXPECT_EQ(ballot.cast(Proposal::commit, true), BallotResult::recover);
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
