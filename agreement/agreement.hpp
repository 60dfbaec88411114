#pragma once

#include <cstdint>

namespace mend::agreement {

/// What an agreement came to: the same for every process that returns from it.
struct Outcome {
  /// The bitwise and of every contribution that was counted; each returning process's own was.
  std::uint32_t value = 0;
  /// Whether a member was found dead that the communicator had not known dead before.
  bool somebody_died = false;
};

/// Fault-tolerant agreement among the members of one communicator.
class Agreement {
 public:
  virtual ~Agreement() = default;

  /// Collective over all living members; the n-th call of each belongs together. Ends whoever dies, and even when
  /// the communicator has been revoked. `contribution`: the low 31 bits count.
  virtual Outcome agree(std::uint32_t contribution) = 0;
};

}  // namespace mend::agreement
