// Threads of mend, beside the application's threads.

#pragma once

#include "base/clock.hpp"
#include "base/signals_blocked.hpp"

#include <functional>
#include <stop_token>
#include <thread>
#include <utility>

namespace mend {

/// Names the calling thread `name` and runs `work`. An exception that leaves `work` stops this process (fail_stop).
void work_in_thread(const char* name, const std::function<void()>& work);

/// Sleeps for `time`, or until `stop` is requested. Returns true if a stop was requested.
bool sleep_unless_stopped(const std::stop_token& stop, Clock::duration time);

/// Starts a thread (std::thread or std::jthread) that runs `work`. `name`: as debuggers show it, a literal of at most
/// 15 characters. All signals are blocked in the thread, because they belong to the application. An exception that
/// leaves `work` stops this process with a sentence. Local. Throws std::system_error if the system cannot start a
/// thread.
template <class Thread = std::thread, class Work>
Thread start_thread(const char* name, Work work) {
  const SignalsBlocked in_the_thread;
  return Thread([name, work = std::move(work)](auto... stop) mutable {
    work_in_thread(name, [&] { work(std::move(stop)...); });
  });
}

}  // namespace mend
