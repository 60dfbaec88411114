// Commits that can be taken back: those since a version that is held (mend::transaction). Holds are nested; what is
// inside another is its part. Pure.

#pragma once

#include "base/ids.hpp"

#include <optional>
#include <vector>

namespace mend {

class ProvisionalCommits {
 public:
  bool any() const { return !held_.empty(); }
  /// What a failure goes back to. There must be any.
  Version first_held() const;
  /// What the innermost hold goes back to. There must be any.
  Version last_held() const;

  void hold(Version version);
  /// Ends the innermost hold. Returns its version if no other hold is at the same.
  std::optional<Version> let_go();

  /// The next commit is the last of the innermost hold, and ends it.
  void end_with_next_commit() { next_ = Next::ends_a_hold; }
  bool next_commit_ends_a_hold() const { return next_ == Next::ends_a_hold; }
  /// Whether the next commit can still be taken back when it is published.
  bool is_next_commit_provisional() const { return held_.size() > (next_commit_ends_a_hold() ? 1 : 0); }

 private:
  enum class Next { stays_in_it, ends_a_hold };

  std::vector<Version> held_;  // ascending
  Next next_ = Next::stays_in_it;
};

}  // namespace mend
