// An agreement whose outcome is decided elsewhere, by a model or a simulation.

#pragma once

#include "agreement/agreement.hpp"
#include "agreement/ballot.hpp"
#include "base/ids.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace mend::agreement {

/// Records the contribution to an agreement, and returns the outcome that it was given.
class Foretold final : public Agreement {
 public:
  explicit Foretold(Outcome outcome = {~0U, false}) : outcome_(outcome) {}
  Outcome agree(std::uint32_t contribution) override {
    contributed = contribution;
    return outcome_;
  }
  std::uint32_t contributed = 0;

 private:
  Outcome outcome_;
};

/// Returns the contribution of a rank with this motion to a ballot.
inline std::uint32_t ballot_contribution(Motion motion) {
  auto foretold = std::make_unique<Foretold>();
  const Foretold& seen = *foretold;
  Ballot ballot(std::move(foretold), Rank{0}, 1);
  ballot.cast(motion, true);
  return seen.contributed;
}

}  // namespace mend::agreement
