// Watches a process that this one has started, from its connection until it is admitted: the ring does not know it yet.

#pragma once

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "detector/local/local_process.hpp"
#include "transport/control/connection.hpp"

#include <thread>

namespace mend {

class NewcomerHeartbeat {
 public:
  /// Asks `process` for signs of life over `line`, which must outlive this object. Kills the process after `time_out`
  /// of silence, which ends the connection, and writes a warning. Time in which either process is not scheduled does
  /// not count.
  NewcomerHeartbeat(ProcessId process, transport::Connection& line, detector::LocalProcess there,
                    Clock::duration time_out);
  NewcomerHeartbeat(const NewcomerHeartbeat&) = delete;
  NewcomerHeartbeat& operator=(const NewcomerHeartbeat&) = delete;

  /// The name of the thread that asks.
  static constexpr const char* thread_name = "mend-newcomer";

 private:
  std::jthread thread_;
};

}  // namespace mend
