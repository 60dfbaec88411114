#include "store/versions/pinned_versions.hpp"

#include "base/assert.hpp"

#include <algorithm>

namespace mend {

Version PinnedVersions::first() const {
  require(any(), "commits are taken back to a version that is held");
  return held_.front();
}

Version PinnedVersions::last() const {
  require(any(), "commits are taken back to a version that is held");
  return held_.back();
}

void PinnedVersions::hold(Version version) {
  require(held_.empty() || held_.back() <= version, "an inner hold is of no older version than the outer one");
  held_.push_back(version);
}

std::optional<Version> PinnedVersions::let_go() {
  const Version version = last();
  held_.pop_back();
  next_ = Next::stays_in_it;
  if (std::ranges::find(held_, version) != held_.end()) return std::nullopt;
  return version;
}

}  // namespace mend
