#include "detector/local/runtime_witness.hpp"

#include "tests/support/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <span>
#include <thread>
#include <vector>

namespace {

using mend::Epoch;
using mend::ProcessId;
using mend::RuntimeWitness;
using support::world_rank;

bool nobody(ProcessId) { return false; }

/// Returns an epoch that was not called yet. Calls are remembered for the life of the process.
Epoch fresh_epoch() {
  static Epoch last;
  last = {last.value + 10};
  return last;
}

class Witness : public testing::Test {
 protected:
  Witness() { MPI_Barrier(MPI_COMM_WORLD); }  // all are listening
  ~Witness() override { MPI_Barrier(MPI_COMM_WORLD); }

  void call_from_one(Epoch epoch) {
    if (world_rank() == support::world_size() - 1) witness_.call(epoch);
  }

  RuntimeWitness witness_;
  const Epoch epoch_ = fresh_epoch();
};

TEST_F(Witness, has_nothing_to_tell_while_nobody_dies) {
  EXPECT_EQ(witness_.death_count(), 0U);
  EXPECT_TRUE(witness_.deaths().empty());
}

TEST_F(Witness, is_woken_by_a_call_with_everyone_else) {
  call_from_one(epoch_);
  witness_.wait({epoch_, nobody, nobody});
  EXPECT_EQ(witness_.death_count(), 0U);
}

TEST_F(Witness, is_woken_by_a_call_for_a_later_epoch) {
  call_from_one(epoch_.next());
  witness_.wait({epoch_, nobody, nobody});
  witness_.wait({epoch_.next(), nobody, nobody});
  EXPECT_EQ(witness_.death_count(), 0U);
}

TEST_F(Witness, remembers_a_call_that_came_before_the_waiting) {
  call_from_one(epoch_);
  witness_.wait({epoch_, nobody, nobody});
  witness_.wait({epoch_, nobody, nobody});
  EXPECT_EQ(witness_.death_count(), 0U);
}

TEST_F(Witness, sleeps_through_calls_for_earlier_epochs) {
  std::atomic<bool> woken = false;
  std::jthread waiting([&] {
    witness_.wait({epoch_, nobody, nobody});
    woken = true;
  });
  call_from_one({epoch_.value - 1});
  witness_.wait({{epoch_.value - 1}, nobody, nobody});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(woken);
  MPI_Barrier(MPI_COMM_WORLD);
  call_from_one(epoch_);
  waiting.join();
  EXPECT_TRUE(woken);
}

TEST_F(Witness, sleeps_through_calls_because_of_deaths_that_do_not_matter_to_it) {
  std::atomic<bool> woken = false;
  std::jthread waiting([&] {
    witness_.wait({epoch_, nobody, [](ProcessId process) { return process == ProcessId{7}; }});
    woken = true;
  });
  if (world_rank() == 0) witness_.call(epoch_, ProcessId{6});
  witness_.wait({epoch_, nobody, [](ProcessId process) { return process == ProcessId{6}; }});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(woken);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) witness_.call(epoch_, ProcessId{7});
  waiting.join();
  EXPECT_TRUE(woken);
}

TEST_F(Witness, takes_the_last_advice_while_it_waits_and_before_that) {
  std::vector<mend::ByteCount> heard;
  if (world_rank() == 0) {
    witness_.advise(std::vector<mend::ByteCount>{1, 2});
    witness_.advise(std::vector<mend::ByteCount>{30, 40, 50});
  }
  witness_.wait({epoch_, nobody, nobody},
                [&](std::span<const mend::ByteCount> sizes, const std::function<bool()>& time) {
                  heard.assign(sizes.begin(), sizes.end());
                  EXPECT_TRUE(time());
                  if (heard.size() < 3) return;
                  MPI_Barrier(MPI_COMM_WORLD);
                  call_from_one(epoch_);
                  while (time()) std::this_thread::yield();
                });
  EXPECT_THAT(heard, testing::ElementsAre(30, 40, 50));
}

TEST_F(Witness, remembers_the_newest_version_that_was_announced) {
  if (world_rank() == 0) {
    for (const std::uint64_t version : {3, 7, 5}) witness_.announce(mend::Version{version});
    witness_.call(epoch_);  // and arrives after the announcements
  }
  witness_.wait({epoch_, nobody, nobody});
  EXPECT_EQ(witness_.announced(), mend::Version{7});
  witness_.hear(mend::Version{9});
  EXPECT_EQ(witness_.announced(), mend::Version{9});
}

TEST_F(Witness, waits_at_no_cost) {
  const auto cpu_time = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    call_from_one(epoch_);
  });
  const auto before = cpu_time();
  witness_.wait({epoch_, nobody, nobody});
  EXPECT_LT(cpu_time() - before, std::chrono::milliseconds(20));
}

}  // namespace
