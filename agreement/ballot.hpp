// The ranks of one epoch decide together: all of them take part in one sequence of ballots.
//
// Ranks come to a ballot with different proposals: one wants to publish a commit, another has finished, a third has met
// a failure and wants to recover. If each kind of decision had an agreement of its own, a rank that waits in one would
// never learn of a rank that waits in another. So all ranks go through the same sequence of ballots. Each makes its
// proposal, and all get the same result:
//   - if any rank wants to abandon the run, all abandon it;
//   - if any rank wants to recover, or has died, all recover;
//   - if all made the same proposal, it is accepted if all were in favour;
//   - if they made different proposals, the ranks of the program have diverged, which is a programming mistake.
//     Further agreements find out which ranks made which proposal.

#pragma once

#include "agreement/agreement.hpp"
#include "base/error.hpp"
#include "base/ids.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mend::agreement {

/// The proposal that a rank makes in a ballot. The numbers are bits on the wire.
enum class Proposal : std::uint32_t {
  commit = 0,   ///< publish the version that has been placed
  restore = 1,  ///< go on from the version that has been restored
  flag = 2,     ///< the application's own question (Session::agree)
  finish = 3,   ///< the body has returned
  disk = 4,     ///< report how far the writing to disk has come; nothing else is to be decided
  recover = 5,  ///< this rank has met a failure
  abandon = 6,  ///< this rank cannot go on: end the job
};
std::string_view name_of(Proposal proposal);

/// The result of a ballot: all ranks act on it alike.
enum class BallotResult {
  accepted,  ///< all ranks made the same proposal and were in favour
  rejected,  ///< all ranks made the same proposal and at least one was against
  recover,   ///< a failure interrupts
  abandon,   ///< the job ends
  confused,  ///< ranks made different proposals: see Ballot::confusion
};

/// Bits that ranks exchange beside a vote. A bit is set in the result if every rank has set it. Only the low 15 bits
/// are used.
using Remarks = std::uint16_t;

class Ballot {
 public:
  /// `agreement` spans `ranks` ranks; this process is `rank`.
  Ballot(std::unique_ptr<Agreement> agreement, Rank rank, int ranks)
      : agreement_(std::move(agreement)), rank_(rank), ranks_(ranks) {}

  /// Collective over the living ranks of the epoch. All get the same result. A result to recover or to abandon
  /// closes the sequence: later calls repeat it and communicate no more.
  BallotResult cast(Proposal proposal, bool in_favour);
  /// As above, with remarks. `remarks`: on entry, the bits of this rank; after BallotResult::accepted or
  /// BallotResult::rejected, the bits that all ranks set.
  BallotResult cast(Proposal proposal, bool in_favour, Remarks& remarks);

  /// As cast, for callers that can only continue or stop. Returns true if the proposal was accepted. Throws
  /// ProcessFailure when a failure interrupts, Abandoned when another rank ends the job, and OrderError when ranks made
  /// different proposals.
  bool vote(Proposal proposal, bool in_favour);
  bool vote(Proposal proposal, bool in_favour, Remarks& remarks);
  /// Returns true if this rank knows that all recover, or that the job ends. Local.
  bool is_closed() const { return closed_.has_value(); }
  /// After BallotResult::confused, returns a sentence that names the ranks that made each proposal. The sentence is the
  /// same on all ranks. Local.
  const std::string& confusion() const { return confusion_; }

 private:
  BallotResult decide(Proposal proposal, bool in_favour, Remarks& remarks);
  BallotResult confuse(Proposal mine, std::uint32_t value);

  std::unique_ptr<Agreement> agreement_;
  Rank rank_;
  int ranks_;
  std::optional<BallotResult> closed_;
  std::string confusion_;
};

/// Thrown when ranks made different proposals in one ballot. The text names the ranks, and is the same on all of them.
class OrderError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Thrown when another rank has ended the job. This rank ends too.
class Abandoned : public CommonError {
 public:
  Abandoned() : CommonError("another rank ended the job") {}
};

}  // namespace mend::agreement
