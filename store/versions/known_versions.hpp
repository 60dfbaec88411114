// A rank's knowledge of the versions that its job has committed.
//
//   begin_epoch      differing    a newcomer may know less than the others
//   agree            agreed       all ranks know the same; their members may hold other data
//   committed,       in_members   the members of all ranks hold the newest version, or data computed from it
//   restored
//
// Pure: the store carries the numbers between the ranks.

#pragma once

#include "base/ids.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace mend {

class KnownVersions {
 public:
  /// Returns the newest version that was published or restored; Version{0} before the first.
  Version published() const { return published_; }
  Version next() const { return published_.next(); }
  /// Returns the newest version that was not placed by this epoch's commits alone. All newer versions were.
  Version settled() const { return settled_; }
  /// Returns true if, as far as this rank knows, anything was ever committed.
  bool any() const { return std::max(published_, announced_) != Version{}; }
  /// Returns how many ranks committed the versions in memory; 0 if there are none, or on a newcomer.
  int committed_by() const { return committed_by_; }
  /// Returns true if another number of ranks has committed the versions in memory.
  bool are_of_others(int ranks) const { return committed_by_ != 0 && committed_by_ != ranks; }
  bool may_differ() const { return state_ == State::differing; }
  /// Returns true if a restore on the ranks of the last commit or restore would bring back the state after it.
  bool can_go_back(int ranks) const {
    return published_ != Version{} && state_ == State::in_members && !are_of_others(ranks);
  }

  void begin_epoch(bool is_first) {
    settled_ = published_;
    if (!is_first) state_ = State::differing;
  }
  /// Records that version `announced` or a newer one exists.
  void hear(Version announced) { announced_ = announced; }

  /// The numbers that this rank sends to the others; agree() takes the maximum over all ranks.
  using Numbers = std::array<std::uint64_t, 3>;
  Numbers told() const { return {published_.value, static_cast<std::uint64_t>(committed_by_), announced_.value}; }
  void agree(const Numbers& all) {
    settled_ = published_ = Version{all[0]};
    committed_by_ = static_cast<int>(all[1]);
    announced_ = Version{all[2]};
    state_ = State::agreed;
  }

  void committed(Version version, int ranks);
  /// Until a restore succeeds, the members may hold any data.
  void begin_restore() { state_ = State::agreed; }
  /// Records a restore. `in_all`: the members of all ranks were filled with that version, or there was no version.
  void restored(Version version, bool in_all);
  /// Records that versions newer than this were discarded. The members keep their values.
  void take_back(Version version);
  /// Records that no version is in memory any more.
  void forget_memory() { committed_by_ = 0; }

 private:
  enum class State { differing, agreed, in_members };

  State state_ = State::in_members;
  Version published_{};
  Version announced_{};
  Version settled_{};
  int committed_by_ = 0;
};

}  // namespace mend
