// The machines of the papers, as far as the simulator can model them.
//
// Latencies and overheads are of the usual order for these networks. For each machine, one number is fitted to one
// figure of the paper that used it, as its comment says; everything else in a table follows. So shapes and ratios can
// be compared with the papers, but not microseconds.

#pragma once

#include "transport/simulated/simulator.hpp"

namespace mend::bench {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

/// NICS Darter, a Cray XC30 (Aries), 16 processes a node, the machine of the ERA paper. The overhead between nodes is
/// fitted, so that ERA with 6,000 processes takes the 77 us of the paper's 6.7 log_2.125(n).
inline transport::NetworkModel darter() {
  transport::NetworkModel model;
  model.between_nodes = {nanoseconds(1'800), nanoseconds(680), 0.1};
  model.within_node = {nanoseconds(350), nanoseconds(480), 0.05};
  model.processes_per_node = 16;
  model.detection_least = microseconds(1'000);
  model.detection_most = microseconds(20'000);
  return model;
}

/// Surveyor, a Blue Gene/P, 4 processes a node, the machine of the validate-all paper. The overhead is fitted, so that
/// the strict agreement of 4,096 processes takes the paper's 305 us.
inline transport::NetworkModel surveyor() {
  transport::NetworkModel model;
  model.between_nodes = {nanoseconds(2'500), nanoseconds(1'370), 2.0};
  model.within_node = {nanoseconds(1'000), nanoseconds(1'370), 0.5};
  model.processes_per_node = 4;
  return model;
}

}  // namespace mend::bench
