#pragma once

#include <cstdint>

namespace mend::agreement {

/// The result of an agreement. It is the same for every process that returns from the agreement.
struct Outcome {
  /// The bitwise and of all contributions counted. It includes the contribution of each process that returns.
  std::uint32_t value = 0;
  /// True if the agreement found a dead member that the communicator did not know to be dead.
  bool somebody_died = false;
};

/// Fault-tolerant agreement among the members of one communicator.
class Agreement {
 public:
  virtual ~Agreement() = default;

  /// Collective over all living members; the n-th calls of all members belong together. Terminates even if members die
  /// or the communicator has been revoked. `contribution`: only the low 31 bits are used.
  virtual Outcome agree(std::uint32_t contribution) = 0;
};

}  // namespace mend::agreement
