// Without failures, ERA neither allocates nor grows.

#include "agreement/era/era.hpp"
#include "tests/support/sanitized.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <new>

namespace {
std::size_t allocations = 0;
std::size_t allocated_bytes = 0;
}  // namespace

// Counts every allocation of this program.
void* operator new(std::size_t size) {
  ++allocations;
  allocated_bytes += size;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace mend::agreement {
namespace {

/// Members in one thread. Contributions come to a member after its own, or before it (`ups_come_early`).
class Group {
 public:
  Group(std::uint32_t members, Layout layout, bool ups_come_early = false) : ups_come_early_(ups_come_early) {
    const auto tree = std::make_shared<const Tree>(members, layout);
    for (std::uint32_t p = 0; p < members; ++p) members_.emplace_back(Member{p}, tree);
  }

  void contribute(AgreementId id, Call call = Call::blocking) {
    Contribution contribution;
    contribution.call = call;
    // The leaves first, so that no member has to be visited twice.
    for (std::size_t p = members_.size(); p-- > 0;) {
      members_[p].contribute(id, contribution, actions_);
      perform(Member{static_cast<std::uint32_t>(p)});
      if (ups_come_early_) deliver();
    }
    deliver();
  }

  std::size_t returned() const { return returned_; }
  const Era& member(std::size_t p) const { return members_[p]; }

 private:
  struct Letter {
    Member from;
    Member to;
    Message message;
  };

  void deliver() {
    while (!on_their_way_.empty()) {
      const auto [from, to, message] = std::move(on_their_way_.back());
      on_their_way_.pop_back();
      members_[to.value].receive(from, message, actions_);
      perform(to);
    }
  }

  void perform(Member member) {
    for (Actions::Send& send : actions_.sends) on_their_way_.push_back({member, send.to, send.message});
    returned_ += actions_.decided.size();
    actions_.clear();
  }

  bool ups_come_early_;
  std::vector<Era> members_;
  std::vector<Letter> on_their_way_;
  Actions actions_;
  std::size_t returned_ = 0;
};

TEST(TreeMemory, a_million_members_cost_no_more_than_ten) {
  const auto cost = [](std::uint32_t size) {
    ProcessSet left_out;
    left_out.insert(Member{3});
    left_out.insert(Member{size - 1});
    const std::size_t before = allocated_bytes;
    const Tree tree(size, Layout::parse("bin/bin:16"), left_out);
    return allocated_bytes - before;
  };
  EXPECT_EQ(cost(1'000'000), cost(10));
}

TEST(EraMemory, nothing_is_allocated_once_warm) {
  for (const bool ups_come_early : {false, true}) {
    for (const char* layout : {"binary", "star", "bin/star:4"}) {
      Group group(8, Layout::parse(layout), ups_come_early);
      std::uint64_t id = 0;
      for (int i = 0; i < 10; ++i) group.contribute({id++});
      const std::size_t before = allocations;
      for (int i = 0; i < 1000; ++i) group.contribute({id++});
      EXPECT_EQ(allocations - before, 0U) << layout;
      EXPECT_EQ(group.returned(), 8 * id);
    }
  }
}

TEST(EraMemory, a_million_agreements_leave_nothing_behind) {
  SKIP_IF_SANITIZED();
  Group group(2, Layout::binary());
  for (std::uint64_t id = 0; id < 100; ++id) group.contribute({id});
  const std::size_t before = allocations;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t id = 100; id < 1'000'000; ++id) group.contribute({id});
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  const std::size_t allocated = allocations - before;
  std::cout << fmt::format("{:.0f} ns of computing for both members of an agreement of two\n", took.count() / 1e6);
  EXPECT_EQ(allocated, 0U);
  EXPECT_EQ(group.member(0).results_kept(), 1U);
  EXPECT_EQ(group.member(1).under_way(), 0U);
}

TEST(EraMemory, one_last_blocking_agreement_leaves_no_result_but_its_own) {
  Group group(3, Layout::binary());
  for (std::uint64_t id = 0; id < 20; ++id) group.contribute({id}, Call::nonblocking);
  group.contribute({20});
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_EQ(group.member(p).results_kept(), 1U);
    EXPECT_EQ(group.member(p).under_way(), 0U);
  }
}

TEST(EraMemory, refuses_agreements_out_of_order) {
  Era era(Member{0}, std::make_shared<const Tree>(1, Layout::binary()));
  Actions actions;
  EXPECT_THROW(era.contribute({1}, {}, actions), std::logic_error);
  era.contribute({0}, {}, actions);
  ASSERT_EQ(actions.decided.size(), 1U) << "a member alone decides alone";
  EXPECT_THROW(era.contribute({0}, {}, actions), std::logic_error);
}

}  // namespace
}  // namespace mend::agreement
