// How the ranks of one epoch decide together: one sequence of ballots, which every one of them attends.
//
// Ranks come to a ballot with different motions: one wants to publish a commit, another has finished, a third has
// met a failure and wants to recover. If each kind of decision had an agreement of its own, a rank waiting in one
// would never hear of a rank waiting in another. So all go through the same sequence, each says which motion it
// came for, and the result tells everyone alike:
//   - somebody wants to abandon the run: all do;
//   - somebody wants to recover, or somebody died: all recover;
//   - all came for the same motion: it is carried if all were in favour;
//   - they came for different motions: the program's ranks have lost each other, which is a mistake in it. Then all
//     find out who came for what, by further agreements.

#pragma once

#include "agreement/agreement.hpp"
#include "base/error.hpp"
#include "base/ids.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mend::agreement {

/// What a rank comes to a ballot for. The numbers are bits on the wire.
enum class Motion : std::uint32_t {
  commit = 0,   ///< publish the version that has been placed
  restore = 1,  ///< go on from the version that has been restored
  flag = 2,     ///< the application's own question (Session::agree)
  finish = 3,   ///< the body has returned
  disk = 4,     ///< how far the writing to disk has come, in which nothing else is to be done
  recover = 5,  ///< a failure was met
  abandon = 6,  ///< this rank cannot go on: end the job
};
std::string_view name_of(Motion motion);

/// What all ranks do after a ballot.
enum class Ruling {
  carried,   ///< all came for the same motion and were in favour
  rejected,  ///< all came for the same motion and somebody was against
  recover,   ///< a failure interrupts
  abandon,   ///< the job ends
  confused,  ///< ranks came for different motions: see Ballot::confusion
};

/// What ranks tell each other beside a vote: all hear the bits that every one of them has said. The low 15 count.
using Remarks = std::uint16_t;

class Ballot {
 public:
  /// `agreement` is among `ranks` ranks, of which this one is `rank`.
  Ballot(std::unique_ptr<Agreement> agreement, Rank rank, int ranks)
      : agreement_(std::move(agreement)), rank_(rank), ranks_(ranks) {}

  /// Collective over the living ranks of the epoch. All get the same ruling. A ruling to recover or to abandon
  /// closes the sequence: later calls repeat it and communicate no more.
  Ruling cast(Motion motion, bool in_favour);
  /// The same, with remarks: of this rank, and after a ruling that is carried or rejected, of all.
  Ruling cast(Motion motion, bool in_favour, Remarks& remarks);

  /// The same, for those who can only go on or not: returns whether the motion was carried; throws ProcessFailure
  /// when a failure interrupts, Abandoned when another rank ends the job, and OrderError when ranks came for
  /// different motions.
  bool vote(Motion motion, bool in_favour);
  bool vote(Motion motion, bool in_favour, Remarks& remarks);
  /// Whether this rank has heard that all recover, or that the job ends. Local.
  bool is_closed() const { return closed_.has_value(); }
  /// After Ruling::confused: which ranks are where, in a sentence that is the same on all. Local.
  const std::string& confusion() const { return confusion_; }

 private:
  Ruling rule(Motion motion, bool in_favour, Remarks& remarks);
  Ruling confuse(Motion mine, std::uint32_t value);

  std::unique_ptr<Agreement> agreement_;
  Rank rank_;
  int ranks_;
  std::optional<Ruling> closed_;
  std::string confusion_;
};

/// Ranks came to one ballot for different motions. The text names them, and is the same on all ranks.
class OrderError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Another rank has ended the job; this one follows.
class Abandoned : public CommonError {
 public:
  Abandoned() : CommonError("another rank ended the job") {}
};

}  // namespace mend::agreement
