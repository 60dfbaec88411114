// What rank 0 tells the spares after commits, for all ranks: that there is a commit, in case that all ranks die at
// once, and what memory a rank needs for its blocks.

#pragma once

#include "base/ids.hpp"
#include "detector/local/runtime_witness.hpp"

#include <vector>

namespace mend {

class SpareBriefing {
 public:
  /// `prepare`: spares have the memory ready. `witness` outlives it.
  SpareBriefing(RuntimeWitness& witness, bool prepare) : witness_(witness), prepare_(prepare) {}

  void begin_epoch();
  /// There is this version, and the store has blocks of these sizes. Says what the spares do not know yet. Local.
  void tell(Version version, std::vector<ByteCount> block_sizes);

 private:
  RuntimeWitness& witness_;
  bool prepare_;
  bool announced_ = false;          // in this epoch, that there is a commit
  std::vector<ByteCount> advised_;  // in this epoch
};

}  // namespace mend
