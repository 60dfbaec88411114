// Real deaths, as the runtime reports them.

#include "detector/local/runtime_witness.hpp"

#include "tests/support/world.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

namespace {

using mend::Epoch;
using mend::ProcessId;
using mend::RuntimeWitness;
using support::world_rank;

bool nobody(ProcessId) { return false; }

class Death : public testing::Test {
 protected:
  Death() { MPI_Barrier(MPI_COMM_WORLD); }  // all are listening

  std::vector<ProcessId> told() const {
    std::vector<ProcessId> processes;
    for (const mend::WitnessedDeath& death : witness_.deaths()) processes.push_back(death.process);
    return processes;
  }
  bool told_of(std::size_t count) const {
    return support::eventually([&] { return witness_.death_count() >= count; });
  }
  /// Gives reports that should not come the time to arrive.
  static void let_time_pass() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

  const mend::WallClock::time_point begun_ = mend::WallClock::now();  // before the barrier: no process is dead yet
  RuntimeWitness witness_;
};

TEST_F(Death, is_told_to_everyone_once) {
  if (world_rank() == 2) support::die();
  EXPECT_TRUE(told_of(1));
  let_time_pass();
  EXPECT_THAT(told(), testing::ElementsAre(ProcessId{2}));
  EXPECT_GE(witness_.deaths().front().when, begun_);
  EXPECT_LE(witness_.deaths().front().when, mend::WallClock::now());
}

TEST_F(Death, of_several_at_once_are_all_told) {
  if (world_rank() == 0 || world_rank() == 3) support::die();
  EXPECT_TRUE(told_of(2));
  let_time_pass();
  EXPECT_THAT(told(), testing::UnorderedElementsAre(ProcessId{0}, ProcessId{3}));
}

TEST_F(Death, wakes_who_waits_for_it) {
  if (world_rank() == 1) support::die();
  witness_.wait({Epoch{1}, [](ProcessId process) { return process == ProcessId{1}; }, nobody});
  EXPECT_THAT(told(), testing::ElementsAre(ProcessId{1}));
}

TEST_F(Death, that_does_not_matter_wakes_nobody) {
  if (world_rank() == 1) support::die();
  EXPECT_TRUE(told_of(1));
  std::atomic<bool> woken = false;
  std::jthread waiting([&] {
    witness_.wait({Epoch{1}, [](ProcessId process) { return process == ProcessId{0}; }, nobody});
    woken = true;
  });
  let_time_pass();
  EXPECT_FALSE(woken);
  int everyone_looked = 1;
  MPIX_Comm_agree(MPI_COMM_WORLD, &everyone_looked);
  witness_.call(Epoch{1});
}

TEST_F(Death, before_the_waiting_began_counts) {
  if (world_rank() == 1) support::die();
  EXPECT_TRUE(told_of(1));
  witness_.wait({Epoch{1}, [](ProcessId process) { return process == ProcessId{1}; }, nobody});
  EXPECT_EQ(witness_.death_count(), 1U);
}

}  // namespace
