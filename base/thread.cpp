#include "base/thread.hpp"

#include "base/death/fail_stop.hpp"

#include <pthread.h>

#include <array>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <mutex>

namespace mend {

void work_in_thread(const char* name, const std::function<void()>& work) {
  ::pthread_setname_np(::pthread_self(), name);
  try {
    work();
  } catch (const std::exception& error) {
    std::array<char, 256> why{};  // memory may be exhausted
    std::snprintf(why.data(), why.size(), "its thread %s failed: %s", name, error.what());
    fail_stop(why.data());
  }
}

bool sleep_unless_stopped(const std::stop_token& stop, Clock::duration time) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any changed;
  return changed.wait_for(lock, stop, time, [&] { return stop.stop_requested(); });
}

}  // namespace mend
