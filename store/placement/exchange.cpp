#include "store/placement/exchange.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <cstring>

namespace mend {
namespace {

constexpr ByteCount least_slice = ByteCount{256} << 10;
constexpr ByteCount most_slices = 64;
constexpr ByteCount window_bytes = ByteCount{2} << 20;

/// Returns a range of a block. The range must lie in the block.
std::span<std::byte> within(std::span<std::byte> block, ByteCount begin, ByteCount length) {
  require(begin <= block.size() && length <= block.size() - begin, "what is exchanged of a block lies in it");
  return block.subspan(begin, length);
}

}  // namespace

/// Returns the number of bytes of this slice that a source has.
ByteCount Exchange::Slice::length_in(const Source& source) const {
  return std::min(length, source.length - std::min(source.length, begin));
}

/// Returns the memory that the slice needs until it is combined.
ByteCount Exchange::Slice::memory() const { return step->is_copy() ? 0 : step->sources.size() * length; }

/// Cuts the steps into slices. A copy is one slice.
std::vector<Exchange::Slice> Exchange::slices_of(const std::vector<Combination>& work) {
  std::vector<Slice> slices;
  for (const Combination& step : work) {
    const ByteCount size =
        step.is_copy() ? step.length : std::max(least_slice, (step.length + most_slices - 1) / most_slices);
    for (ByteCount begin = 0; begin < step.length; begin += size)
      slices.push_back({&step, begin, std::min(size, step.length - begin)});
  }
  return slices;
}

Exchange::Exchange(std::vector<Combination> work, MPI_Comm comm, int tag, FindBlock find)
    : work_(std::move(work)),
      slices_(slices_of(work_)),
      find_(std::move(find)),
      tag_(tag),
      windows_{Window(comm), Window(comm)},
      sending_(comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  self_ = Rank{rank};
  send_all();
  fill(windows_[0]);
}

void Exchange::finish() {
  for (std::size_t turn = 0; !windows_[turn % 2].slices.empty(); ++turn) {
    fill(windows_[(turn + 1) % 2]);
    empty(windows_[turn % 2]);
  }
  sending_.wait_all();
}

/// Copies need no memory other than their targets, so all of them are received in the first window.
bool Exchange::has_received_all() {
  require(receives_only_copies(), "only copies come without being waited for");
  return windows_[0].requests.test_all();
}

bool Exchange::is_done() { return has_received_all() && sending_.test_all(); }

bool Exchange::receives_only_copies() const {
  return std::ranges::all_of(work_, [&](const Combination& step) { return step.to != self_ || step.is_copy(); });
}

void Exchange::send_all() {
  for (const Slice& slice : slices_) {
    for (const Source& source : slice.step->sources) {
      const ByteCount length = source.from == self_ ? slice.length_in(source) : 0;
      if (length == 0) continue;
      sending_.send(within(find_(source.block), source.offset + slice.begin, length), slice.step->to.value, tag_);
    }
  }
}

/// Begins to receive this rank's next slices: as many as fit into the window's memory, at least one.
void Exchange::fill(Window& window) {
  ByteCount memory = 0;
  for (; next_ < slices_.size(); ++next_) {
    const Slice& slice = slices_[next_];
    if (slice.step->to != self_) continue;
    if (!window.slices.empty() && memory + slice.memory() > window_bytes) break;
    window.slices.push_back(slice);
    memory += slice.memory();
  }
  window.memory.resize(std::max(window.memory.size(), memory));
  std::span<std::byte> left = window.memory;
  for (const Slice& slice : window.slices) {
    for (const Source& source : slice.step->sources) {
      const ByteCount length = slice.length_in(source);
      const std::span<std::byte> place = slice.step->is_copy() ? target_of(slice) : left.first(slice.length);
      if (length > 0) window.requests.receive(place.first(length), source.from.value, tag_);
      std::memset(place.data() + length, 0, slice.length - length);
      if (!slice.step->is_copy()) left = left.subspan(slice.length);
    }
  }
}

/// Waits for the messages of a window and combines its slices.
void Exchange::empty(Window& window) {
  window.requests.wait_all();
  std::span<const std::byte> left = window.memory;
  for (const Slice& slice : window.slices) {
    if (slice.step->is_copy()) continue;
    std::vector<Term> terms;
    for (const Source& source : slice.step->sources) {
      terms.push_back({left.first(slice.length), source.coefficient});
      left = left.subspan(slice.length);
    }
    combine(terms, target_of(slice));
  }
  window.slices.clear();
}

std::span<std::byte> Exchange::target_of(const Slice& slice) const {
  return within(find_(slice.step->target), slice.step->offset + slice.begin, slice.length);
}

}  // namespace mend
