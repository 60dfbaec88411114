#include "store/versions/held_versions.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <utility>

namespace mend {

Version HeldVersions::first() const {
  require(any(), "commits are taken back to a version that is held");
  return held_.front();
}

Version HeldVersions::last() const {
  require(any(), "commits are taken back to a version that is held");
  return held_.back();
}

Version HeldVersions::outermost_of_last(int holds) const {
  require(holds > 0 && std::cmp_less_equal(holds, held_.size()), "only holds that exist are dropped");
  return held_.end()[-holds];
}

void HeldVersions::hold(Version version) {
  require(held_.empty() || held_.back() <= version, "an inner hold is of no older version than the outer one");
  held_.push_back(version);
}

std::optional<Version> HeldVersions::let_go() {
  const Version version = last();
  held_.pop_back();
  next_ = Next::stays_in_it;
  if (std::ranges::find(held_, version) != held_.end()) return std::nullopt;
  return version;
}

}  // namespace mend
