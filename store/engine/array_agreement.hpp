// Checks that a name stands for the same array on all ranks: parts of different arrays cannot be redistributed.

#pragma once

#include "store/engine/epoch_ranks.hpp"
#include "store/snapshot/snapshot.hpp"

namespace mend {

class ArrayAgreement {
 public:
  /// Marks the arrays of this rank as changed: they must be compared again.
  void end() { state_ = State::open; }
  bool is_reached() const { return state_ == State::reached; }
  /// Throws UsageError on all ranks alike when two disagree. Collective.
  void reach(const EpochRanks& ranks, const Members& members);

 private:
  enum class State { open, reached };
  State state_ = State::open;
};

}  // namespace mend
