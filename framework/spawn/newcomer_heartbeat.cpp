#include "framework/spawn/newcomer_heartbeat.hpp"

#include "base/telemetry/log.hpp"
#include "base/thread.hpp"

#include <fmt/format.h>

#include <stop_token>
#include <utility>

namespace mend {
namespace {

/// The number of unanswered requests in a row after which the process is killed. One is sent in each part of the
/// time-out.
constexpr int most_unanswered = 4;

}  // namespace

NewcomerHeartbeat::NewcomerHeartbeat(ProcessId process, transport::Connection& connection, detector::LocalProcess there,
                                     Clock::duration time_out) {
  thread_ = start_thread<std::jthread>(
      thread_name, [process, &connection, there = std::move(there), time_out](const std::stop_token& stop) {
        for (int unanswered = 0; !connection.ended();) {
          const auto asked = Clock::now();
          connection.ask();
          if (sleep_unless_stopped(stop, time_out / most_unanswered)) return;
          if (connection.heard() >= asked) {
            unanswered = 0;
          } else if (!there.is_kept_waiting(transport::Connection::thread_name)) {
            ++unanswered;
          }
          if (unanswered < most_unanswered) continue;
          log::warn(
              fmt::format("process {} was started to take over a rank, and has been silent for {:.0f} ms: it is ended",
                          process.value, Milliseconds(time_out).count()));
          there.kill();
          return;
        }
      });
}

}  // namespace mend
