#include "store/disk/background.hpp"

#include "base/signals_blocked.hpp"

#include <pthread.h>

#include <exception>
#include <utility>

namespace mend {

void Background::begin(std::function<void()> work) {
  wait();
  done_ = false;
  const SignalsBlocked in_the_thread_to_be;
  thread_ = std::thread([this, work = std::move(work)] {
    try {
      work();
    } catch (const std::exception& error) {
      failure_ = error.what();
    }
    done_.store(true, std::memory_order_release);
  });
  ::pthread_setname_np(thread_.native_handle(), "mend-disk");
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
