// The versions that transactions hold (mend::transaction). Commits after a held version are provisional: a failure
// rolls the job back to that version. Holds are nested; an inner hold is part of the outer one. Pure.

#pragma once

#include "base/ids.hpp"

#include <optional>
#include <vector>

namespace mend {

class HeldVersions {
 public:
  bool any() const { return !held_.empty(); }
  /// Returns the version of the outermost hold, to which a failure rolls the job back. There must be a hold.
  Version first() const;
  /// Returns the version of the innermost hold. There must be a hold.
  Version last() const;
  /// Returns the version of the outermost of the innermost `holds` ones. There must be as many, 1 or more.
  Version outermost_of_last(int holds) const;

  void hold(Version version);
  /// Ends the innermost hold. Returns its version if no other hold has the same one.
  std::optional<Version> let_go();

  /// Makes the next commit the last one of the innermost hold. That commit ends the hold.
  void end_with_next_commit() { next_ = Next::ends_a_hold; }
  bool next_commit_ends_a_hold() const { return next_ == Next::ends_a_hold; }
  /// Returns true if the next commit can still be taken back after it is published.
  bool is_next_commit_provisional() const { return held_.size() > (next_commit_ends_a_hold() ? 1 : 0); }

 private:
  enum class Next { stays_in_it, ends_a_hold };

  std::vector<Version> held_;  // ascending
  Next next_ = Next::stays_in_it;
};

}  // namespace mend
