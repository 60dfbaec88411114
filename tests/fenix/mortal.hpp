// Death at a moment, in the tests' C++ programs for Fenix.

#pragma once

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <mutex>
#include <thread>

// Held while the process decides to die and until it has: one that has come to the end of its work does not die later,
// however long the thread that is to kill it is not scheduled.
inline std::mutex dying;
inline bool mortal = true;

/// Has this process killed after that time, unless it has come to the end of its work.
inline void die_in(std::chrono::microseconds time) {
  std::thread([time] {
    std::this_thread::sleep_for(time);
    const std::lock_guard lock(dying);
    if (mortal) {
      ::kill(::getpid(), SIGKILL);
      ::pause();
    }
  }).detach();
}

/// At the end of the work.
inline void live_on() {
  const std::lock_guard lock(dying);
  mortal = false;
}
