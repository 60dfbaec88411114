#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>

namespace mend {

/// Runs work in the background, one piece at a time, in a thread that calls neither MPI nor HDF5. The functions of this
/// class are for the application's thread.
class BackgroundWork {
 public:
  BackgroundWork() = default;
  /// Waits for the work that has begun.
  ~BackgroundWork() { wait(); }
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;

  /// Begins `work`. No other work may be under way.
  void begin(std::function<void()> work);
  bool busy() const { return thread_.joinable() && !done_.load(std::memory_order_acquire); }
  void wait();

  /// Returns the error of work that has ended. Each error is returned once.
  std::optional<std::string> take_failure();

 private:
  std::thread thread_;
  std::atomic<bool> done_ = true;
  std::string failure_;
};

}  // namespace mend
