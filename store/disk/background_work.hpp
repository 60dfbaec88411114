#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>

namespace mend {

/// Work that goes on beside the application, one piece at a time, in a thread that makes no MPI call and does not enter
/// HDF5. Its members are for the application's thread.
class BackgroundWork {
 public:
  BackgroundWork() = default;
  /// Finishes what has begun.
  ~BackgroundWork() { wait(); }
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;

  /// Begins. Nothing else may be under way.
  void begin(std::function<void()> work);
  bool busy() const { return thread_.joinable() && !done_.load(std::memory_order_acquire); }
  void wait();

  /// What has gone wrong in work that is done; asked once.
  std::optional<std::string> take_failure();

 private:
  std::thread thread_;
  std::atomic<bool> done_ = true;
  std::string failure_;
};

}  // namespace mend
