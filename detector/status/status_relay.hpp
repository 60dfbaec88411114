// Shows `mend run` the state of the processes on other nodes: those that do not write on its board themselves
// (base/telemetry/job_board.hpp).
//
//     mend run         process of its node                    process elsewhere
//       looks + 1 -->  takes the look; asks each process  -->
//                      board: as it has answered         <--  its state
//
// The control thread does this, so that processes that hang in MPI answer too. A process that is stopped or cut off
// does not answer, and its entry on the board shows that.

#pragma once

#include "base/process_set.hpp"
#include "detector/status/status_message.hpp"

#include <functional>
#include <utility>

namespace mend::detector {

class StatusRelay {
 public:
  using Send = std::function<void(ProcessId to, std::span<const std::byte> bytes)>;

  explicit StatusRelay(Send send) : send_(std::move(send)) {}

  /// Asks the others for a look that this process has taken. `living`: the other processes that are not known to be
  /// dead.
  void ask(std::uint32_t look, const ProcessSet& living);
  /// Answers a question, or writes an answer on the board. Throws EnvironmentError for invalid bytes.
  void arrived(ProcessId from, std::span<const std::byte> bytes);

 private:
  Send send_;
};

}  // namespace mend::detector
