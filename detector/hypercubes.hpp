// The paths of a broadcast among any number of processes: two hypercubes that overlap.
//
// A hypercube of 2^k has k paths between any two of its corners that share no corner between. So when everyone passes
// on what it hears first to all its neighbours, k-1 deaths keep nobody from hearing. But n processes are rarely a
// power of two. Two hypercubes of the 2^k <= n < 2^(k+1), one counted forwards from the source and one backwards, cover
// them all:
//
//     labels      0 1 2 3 4 5 6 7 8 9 10 11 12      n = 13, k = 3
//     forwards    0 1 2 3 4 5 6 7                   label l stands at corner l
//     backwards   0           7 6 5 4  3  2  1      label l stands at corner n - l, the source at 0
//
// Whoever stands in both passes on in both.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace mend::detector {

using Label = std::uint32_t;

/// The dimension of the largest hypercube that `count` processes fill: floor(log2 count). `count` is at least 1.
std::uint32_t dimension(std::uint32_t count);

/// How many may die while a broadcast among `count` runs, if the source lives: floor(log2 count) - 1.
std::uint32_t deaths_tolerated(std::uint32_t count);

/// Labels, without allocation.
class Labels {
 public:
  void add(Label label) {
    for (Label known : *this) {
      if (known == label) return;
    }
    labels_[size_++] = label;
  }
  std::size_t size() const { return size_; }
  const Label* begin() const { return labels_.data(); }
  const Label* end() const { return labels_.data() + size_; }

 private:
  std::array<Label, 62> labels_;
  std::size_t size_ = 0;
};

/// Whom `self` passes a broadcast among `count` on to that came from its neighbour `from` (from nobody: at the
/// source), in the order of sending. It goes round the dimensions from the one after that on which it came, so that
/// with one port the first copies to arrive come down a binomial tree (Ramanathan and Shin 1988).
Labels neighbours(std::uint32_t count, Label self, std::optional<Label> from);

}  // namespace mend::detector
