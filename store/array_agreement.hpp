// That all ranks mean the same array by one name: parts of different ones could not be given to other ranks.

#pragma once

#include "store/epoch_ranks.hpp"
#include "store/snapshot/snapshot.hpp"

namespace mend {

class ArrayAgreement {
 public:
  /// This rank has members that others may take for parts of other arrays.
  void end() { state_ = State::open; }
  bool is_reached() const { return state_ == State::reached; }
  /// Throws UsageError on all ranks alike when two disagree. Collective.
  void reach(const EpochRanks& ranks, const Members& members);

 private:
  enum class State { open, reached };
  State state_ = State::open;
};

}  // namespace mend
