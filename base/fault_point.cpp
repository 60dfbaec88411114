#include "base/fault_point.hpp"

namespace mend {
namespace detail {
std::atomic<bool> fault_points_watched = false;
}

namespace {
FaultPointListener& listener() {
  static FaultPointListener instance;
  return instance;
}
}  // namespace

void on_fault_point(FaultPointListener new_listener) {
  listener() = std::move(new_listener);
  detail::fault_points_watched = static_cast<bool>(listener());
}

void detail::announce_fault_point(std::string_view point) { listener()(point); }

}  // namespace mend
