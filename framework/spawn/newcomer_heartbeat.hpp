// Watches a process that this one has started, from its connection until it is admitted and the detector's ring knows
// it.

#pragma once

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "detector/local/local_process.hpp"
#include "transport/control/connection.hpp"

#include <thread>

namespace mend {

class NewcomerHeartbeat {
 public:
  /// Asks `process` for heartbeats over `connection`, which must outlive this object. After `time_out` without an
  /// answer, kills the process, which ends the connection, and writes a warning. Time in which either process is not
  /// scheduled does not count.
  NewcomerHeartbeat(ProcessId process, transport::Connection& connection, detector::LocalProcess there,
                    Clock::duration time_out);
  NewcomerHeartbeat(const NewcomerHeartbeat&) = delete;
  NewcomerHeartbeat& operator=(const NewcomerHeartbeat&) = delete;

  /// The name of the thread that sends the requests.
  static constexpr const char* thread_name = "mend-newcomer";

 private:
  std::jthread thread_;
};

}  // namespace mend
