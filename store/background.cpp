#include "store/background.hpp"

#include <pthread.h>

#include <csignal>
#include <exception>
#include <utility>

namespace mend {

void Background::begin(std::function<void()> work) {
  wait();
  done_ = false;
  // Signals are the application's: its own thread takes them.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this, work = std::move(work)] {
    try {
      work();
    } catch (const std::exception& error) {
      failure_ = error.what();
    }
    done_.store(true, std::memory_order_release);
  });
  ::pthread_setname_np(thread_.native_handle(), "mend-disk");
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Background::wait() {
  if (thread_.joinable()) thread_.join();
}

std::optional<std::string> Background::take_failure() {
  if (busy() || failure_.empty()) return std::nullopt;
  wait();
  return std::exchange(failure_, {});
}

}  // namespace mend
