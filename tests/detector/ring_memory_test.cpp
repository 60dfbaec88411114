// Without failures, the ring does not allocate.

#include "detector/ring.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

namespace {
std::size_t allocations = 0;
}

// Counts every allocation of this program. Not inlined; otherwise the compiler warns about free().
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace mend::detector {
namespace {

TEST(RingMemory, nothing_is_allocated_once_warm) {
  constexpr std::uint32_t count = 8;
  std::vector<Ring> rings;
  Actions actions;
  for (std::uint32_t p = 0; p < count; ++p) {
    rings.emplace_back(ProcessId{p}, Timing{Time{2}, Time{10}});
    rings.back().enter({{0}, count, {}}, Time{0}, actions);
  }
  Actions answer;
  std::size_t heartbeats = 0;
  const auto pass = [&](Time now) {
    for (std::uint32_t p = 0; p < count; ++p) {
      actions.clear();
      rings[p].tick(now, actions);
      for (const Actions::Send& send : actions.sends) {
        ++heartbeats;
        answer.clear();
        rings[send.to.value].receive({p}, send.message, now, answer);
      }
    }
  };
  for (int now = 0; now < 10; ++now) pass(Time{now});
  const std::size_t before = allocations;
  for (int now = 10; now < 10'000; ++now) pass(Time{now});
  EXPECT_EQ(allocations - before, 0U);
  EXPECT_EQ(heartbeats, 10'000U / 2 * count) << "one message each period and process";
}

}  // namespace
}  // namespace mend::detector
