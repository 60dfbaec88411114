// Chooses between large and small pages while memory is populated.
//
// Large pages usually cost less, because the kernel is entered once for 2 MiB. They cost several times as much while
// the kernel must first move other pages out of the way, or while a virtual machine gets memory from its host. It is
// not known beforehand which kind costs less, so both are timed:
//
//   step   1      2      3 ... 34   35     36 ... 99   100
//          large  small  cheaper    other  cheaper     other   ...   (the distance doubles while the other costs more)
//
// If a step costs much more than the other kind of page did, the other one is tried at once.

#pragma once

#include "base/clock.hpp"

#include <array>
#include <cstddef>

namespace mend {

enum class PageSize : std::size_t { small, large };

/// A decision for each step of equal size. Pure.
class PageChoice {
 public:
  /// Returns the pages for the next step.
  PageSize next() const;
  /// Records the cost of a step with these pages.
  void note(PageSize used, Clock::duration cost);

 private:
  static constexpr int shortest = 32;  // steps between two trials of the other kind
  static constexpr int longest = 256;  // with steps of 2 MiB: one in 512 MiB

  Clock::duration& cost_of(PageSize size) { return costs_.at(static_cast<std::size_t>(size)); }
  Clock::duration cost_of(PageSize size) const { return costs_.at(static_cast<std::size_t>(size)); }

  std::array<Clock::duration, 2> costs_{};  // of the last steps; 0: not tried yet
  PageSize best_ = PageSize::large;
  int distance_ = shortest;
  int until_trial_ = 0;
};

}  // namespace mend
