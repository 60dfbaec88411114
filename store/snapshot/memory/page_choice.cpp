#include "store/snapshot/memory/page_choice.hpp"

#include <algorithm>

namespace mend {
namespace {

PageSize other(PageSize size) { return size == PageSize::large ? PageSize::small : PageSize::large; }

constexpr Clock::duration unknown{};

}  // namespace

PageSize PageChoice::next() const {
  if (cost_of(best_) == unknown) return best_;
  return until_trial_ == 0 ? other(best_) : best_;
}

void PageChoice::note(PageSize used, Clock::duration cost) {
  const Clock::duration known = cost_of(used);
  const Clock::duration spent = std::max(cost, Clock::duration{1});
  // The cost of a trial is used as measured. The cost of consecutive steps is smoothed, so that one interrupt does not
  // end the series.
  cost_of(used) = used == best_ && known != unknown ? (known + spent) / 2 : spent;
  const Clock::duration rival = cost_of(other(best_));
  if (used != best_) {
    const bool wins = rival < cost_of(best_);
    if (wins) best_ = used;
    distance_ = wins ? shortest : std::min(2 * distance_, longest);
    until_trial_ = distance_;
  } else if (until_trial_ > 0) {
    const bool got_worse = rival != unknown && cost_of(best_) > 2 * rival;
    until_trial_ = got_worse ? 0 : until_trial_ - 1;
  }
}

}  // namespace mend
