// Watches a process that this one has started and that waits at the line, or is being taken in: the ring does not know
// it yet.

#pragma once

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "detector/local/local_process.hpp"
#include "transport/control/connection.hpp"

#include <thread>

namespace mend {

class NewcomerHeartbeat {
 public:
  /// Asks `process` for signs of life, by `line`, which must outlive this. When there are none for `time_out`, it is
  /// killed, which ends the line, and a warning says so. That it or this process is kept from running does not count.
  NewcomerHeartbeat(ProcessId process, transport::Connection& line, detector::LocalProcess there,
                    Clock::duration time_out);
  NewcomerHeartbeat(const NewcomerHeartbeat&) = delete;
  NewcomerHeartbeat& operator=(const NewcomerHeartbeat&) = delete;

  /// How the thread is called that asks.
  static constexpr const char* thread_name = "mend-newcomer";

 private:
  std::jthread thread_;
};

}  // namespace mend
