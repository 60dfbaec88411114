#include "store/exchange.hpp"

#include "transport/requests.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace mend {
namespace {

constexpr int tag = 1;  // between two ranks, messages come in the order in which both walk through the work

constexpr ByteCount least_slice = ByteCount{256} << 10;
constexpr ByteCount most_slices = 64;

ByteCount slice_bytes(const Combination& step) {
  return step.is_copy() ? step.length : std::max(least_slice, (step.length + most_slices - 1) / most_slices);
}

/// The part of [0, length) that belongs to a round.
struct Slice {
  ByteCount begin;
  ByteCount length;
};
Slice slice_in(const Combination& step, ByteCount length, std::size_t round) {
  const ByteCount whole = slice_bytes(step);
  const ByteCount begin = std::min(length, round * whole);
  return {begin, std::min(whole, length - begin)};
}

/// This rank's part in carrying out some work, in rounds: one slice of every step is a round.
class Exchange {
 public:
  Exchange(std::span<const Combination> work, MPI_Comm comm, const FindBlock& find)
      : work_(work), find_(find), arriving_{Arriving(comm), Arriving(comm)}, sending_(comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    self_ = Rank{rank};
    for (const Combination& step : work) {
      if (step.length > 0) rounds_ = std::max(rounds_, (step.length + slice_bytes(step) - 1) / slice_bytes(step));
    }
  }

  void run(const std::function<void()>& under_way) {
    for (std::size_t round = 0; round < rounds_; ++round) send(round);
    if (rounds_ > 0) receive(0);
    under_way();
    for (std::size_t round = 0; round < rounds_; ++round) {
      if (round + 1 < rounds_) receive(round + 1);
      arriving_[round % 2].requests.wait_all();
      combine_arrived(round);
    }
    sending_.wait_all();
  }

 private:
  /// What comes in a round: into memory of its own, or straight to where it shall lie.
  struct Arriving {
    explicit Arriving(MPI_Comm comm) : requests(comm) {}
    std::vector<std::byte> memory;
    Requests requests;
  };

  void send(std::size_t round) {
    for (const Combination& step : work_) {
      for (const Source& source : step.sources) {
        if (source.from != self_) continue;
        const Slice slice = slice_in(step, source.length, round);
        if (slice.length == 0) continue;
        sending_.send(find_(source.block).subspan(source.offset + slice.begin, slice.length), step.to.value, tag);
      }
    }
  }

  void receive(std::size_t round) {
    Arriving& arriving = arriving_[round % 2];
    arriving.memory.resize(std::max(arriving.memory.size(), memory_for(round)));
    std::span<std::byte> left = arriving.memory;
    for (const Combination& step : work_) {
      if (step.to != self_) continue;
      const Slice target = slice_in(step, step.length, round);
      if (target.length == 0) continue;
      if (step.is_copy()) {
        arriving.requests.receive(target_bytes(step, target), step.sources.front().from.value, tag);
        continue;
      }
      for (const Source& source : step.sources) {
        const Slice slice = slice_in(step, source.length, round);
        if (slice.length > 0) arriving.requests.receive(left.first(slice.length), source.from.value, tag);
        std::memset(left.data() + slice.length, 0, target.length - slice.length);
        left = left.subspan(target.length);
      }
    }
  }

  void combine_arrived(std::size_t round) {
    std::span<const std::byte> left = arriving_[round % 2].memory;
    for (const Combination& step : work_) {
      if (step.to != self_ || step.is_copy()) continue;
      const Slice target = slice_in(step, step.length, round);
      if (target.length == 0) continue;
      std::vector<Term> terms;
      for (const Source& source : step.sources) {
        terms.push_back({left.first(target.length), source.coefficient});
        left = left.subspan(target.length);
      }
      combine(terms, target_bytes(step, target));
    }
  }

  ByteCount memory_for(std::size_t round) const {
    ByteCount bytes = 0;
    for (const Combination& step : work_) {
      if (step.to == self_ && !step.is_copy()) bytes += step.sources.size() * slice_in(step, step.length, round).length;
    }
    return bytes;
  }

  std::span<std::byte> target_bytes(const Combination& step, Slice slice) const {
    return find_(step.target).subspan(step.offset + slice.begin, slice.length);
  }

  std::span<const Combination> work_;
  const FindBlock& find_;
  Rank self_;
  std::size_t rounds_ = 0;
  std::array<Arriving, 2> arriving_;
  Requests sending_;
};

}  // namespace

void carry_out(std::span<const Combination> work, MPI_Comm comm, const FindBlock& find, const std::function<void()>& under_way) {
  Exchange(work, comm, find).run(under_way);
}

}  // namespace mend
