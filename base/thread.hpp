// Threads of mend's own, beside the application's.

#pragma once

#include "base/clock.hpp"
#include "base/signals_blocked.hpp"

#include <functional>
#include <stop_token>
#include <thread>
#include <utility>

namespace mend {

/// Names the calling thread `name` and does `work`; an exception that leaves it stops this process (fail_stop).
void work_in_thread(const char* name, const std::function<void()>& work);

/// Sleeps for `time`, or until `stop` is requested. Returns true if it was.
bool sleep_unless_stopped(const std::stop_token& stop, Clock::duration time);

/// Starts a thread, a std::thread or a std::jthread, that does `work`. Debuggers call it `name`: a literal of at most
/// 15 characters. All signals are blocked in it: they are the application's. An exception that leaves `work` stops this
/// process with a sentence. Local. Throws std::system_error when the system has no thread to give.
template <class Thread = std::thread, class Work>
Thread start_thread(const char* name, Work work) {
  const SignalsBlocked in_the_thread;
  return Thread([name, work = std::move(work)](auto... stop) mutable {
    work_in_thread(name, [&] { work(std::move(stop)...); });
  });
}

}  // namespace mend
