// Rank 0 tells the spares after commits that a version exists, in case all ranks die at once, and how much memory a
// rank needs for its blocks.

#pragma once

#include "base/ids.hpp"
#include "detector/local/runtime_witness.hpp"

#include <vector>

namespace mend {

class SpareBriefing {
 public:
  /// `prepare`: spares allocate that memory in advance. `witness` must outlive this object.
  SpareBriefing(RuntimeWitness& witness, bool prepare) : witness_(witness), prepare_(prepare) {}

  void begin_epoch();
  /// Tells the spares that `version` exists and that the store has blocks of these sizes, unless they know it. Local.
  void tell(Version version, std::vector<ByteCount> block_sizes);

 private:
  RuntimeWitness& witness_;
  bool prepare_;
  bool announced_ = false;          // the spares know that there is a commit in this epoch
  std::vector<ByteCount> advised_;  // the block sizes that the spares know in this epoch
};

}  // namespace mend
