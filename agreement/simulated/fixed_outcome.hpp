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
class FixedOutcome final : public Agreement {
 public:
  explicit FixedOutcome(Outcome outcome = {~0U, false}) : outcome_(outcome) {}
  Outcome agree(std::uint32_t contribution) override {
    contributed = contribution;
    return outcome_;
  }
  std::uint32_t contributed = 0;

 private:
  Outcome outcome_;
};

/// Returns the contribution to a ballot of a rank that makes this proposal.
inline std::uint32_t ballot_contribution(Proposal proposal) {
  auto fixed = std::make_unique<FixedOutcome>();
  const FixedOutcome& seen = *fixed;
  Ballot ballot(std::move(fixed), Rank{0}, 1);
  ballot.cast(proposal, true);
  return seen.contributed;
}

}  // namespace mend::agreement
