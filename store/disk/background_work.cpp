#include "store/disk/background_work.hpp"

#include "base/thread.hpp"

#include <exception>
#include <utility>

namespace mend {

void BackgroundWork::begin(std::function<void()> work) {
  wait();
  failure_.clear();  // of earlier work that nobody has asked about
  done_ = false;
  thread_ = start_thread("mend-disk", [this, work = std::move(work)] {
    try {
      work();
    } catch (const std::exception& error) {
      failure_ = error.what();
    }
    done_.store(true, std::memory_order_release);
  });
}

void BackgroundWork::wait() {
  if (thread_.joinable()) thread_.join();
}

std::optional<std::string> BackgroundWork::take_failure() {
  if (busy() || failure_.empty()) return std::nullopt;
  wait();
  return std::exchange(failure_, {});
}

}  // namespace mend
