#include "store/versions/known_versions.hpp"

#include "base/assert.hpp"

namespace mend {

void KnownVersions::committed(Version version, int ranks) {
  require(state_ != State::differing, "a version is published when all ranks know the one before");
  require(version == next(), "versions are published one after the other");
  published_ = version;
  committed_by_ = ranks;
  state_ = State::in_members;
}

void KnownVersions::restored(Version version, bool in_all) {
  require(state_ != State::differing, "a version is restored when all ranks know what there is");
  if (version != Version{}) settled_ = published_ = version;
  state_ = in_all ? State::in_members : State::agreed;
}

void KnownVersions::take_back(Version version) {
  settled_ = published_ = std::min(published_, version);
  if (state_ == State::in_members) state_ = State::agreed;
}

}  // namespace mend
