// The paths of a broadcast among any number of processes: two hypercubes that overlap.
//
// In a hypercube of 2^k corners, any two corners are connected by k paths that share no other corner. So if every
// process passes on a message to all its neighbours when it first arrives, k-1 deaths do not keep it from any process.
// The number n of processes is rarely a power of two. Two hypercubes of the 2^k <= n < 2^(k+1), one counted forwards
// from the source and one backwards, cover all of them:
//
//     labels      0 1 2 3 4 5 6 7 8 9 10 11 12      n = 13, k = 3
//     forwards    0 1 2 3 4 5 6 7                   label l stands at corner l
//     backwards   0           7 6 5 4  3  2  1      label l stands at corner n - l, the source at 0
//
// A process that is in both hypercubes passes on in both.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace mend::detector {

using Label = std::uint32_t;

/// Returns the dimension of the largest hypercube that `count` processes fill: floor(log2 count). `count` is at least
/// 1.
std::uint32_t dimension(std::uint32_t count);

/// Returns how many processes may die while a broadcast among `count` runs, if the source lives: floor(log2 count) - 1.
std::uint32_t deaths_tolerated(std::uint32_t count);

/// A list of labels, without allocation.
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

/// Returns the neighbours to which `self` passes on a broadcast among `count` that came from its neighbour `from`
/// (nothing at the source), in the order of sending. The order begins with the dimension after the one on which it
/// came, so that with one port the first copies to arrive come down a binomial tree (Ramanathan and Shin 1988).
Labels neighbours(std::uint32_t count, Label self, std::optional<Label> from);

}  // namespace mend::detector
