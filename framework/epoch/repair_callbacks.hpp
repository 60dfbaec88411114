// The callbacks that libraries have registered for the end of a repair, in the order of registration.

#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace mend {

class RepairCallbacks {
 public:
  using Callback = std::function<void()>;

  void add(Callback callback) { callbacks_.push_back(std::move(callback)); }
  void clear() { callbacks_.clear(); }
  /// Calls all callbacks. A callback that is added during this call is called the next time.
  void call() {
    const std::vector<Callback> callbacks = callbacks_;
    const struct Within {
      explicit Within(bool& flag) : flag_(flag) { flag_ = true; }
      ~Within() { flag_ = false; }
      bool& flag_;
    } now(under_way_);
    for (const Callback& callback : callbacks) callback();
  }
  bool under_way() const { return under_way_; }

 private:
  std::vector<Callback> callbacks_;
  bool under_way_ = false;
};

}  // namespace mend
