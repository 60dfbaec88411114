#include "base/telemetry/library_wait.hpp"

#include "base/telemetry/activity.hpp"

#include <atomic>

namespace mend {
namespace {

constexpr std::int64_t nowhere = -1;

std::atomic<std::int64_t> allowance_now{nowhere};  // in ms; nowhere: the thread is not in the library
std::atomic<std::uint64_t> rounds{0};
std::atomic<std::uint64_t> turn_now{0};  // the stage in the high half, the step in the low one

Turn turn() {
  const std::uint64_t word = turn_now.load(std::memory_order_relaxed);
  return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word)};
}

std::uint64_t stage_of_body(Epoch epoch) { return 2 * std::uint64_t{epoch.value}; }
std::uint64_t stage_of_recovery(Epoch epoch) { return stage_of_body(epoch) + 1; }

void begin_stage(std::uint64_t stage, std::uint32_t step = 0) {
  if (turn().stage != static_cast<std::uint32_t>(stage)) turn_now.store(stage << 32 | step, std::memory_order_relaxed);
}

void take_step() { turn_now.store(turn_now.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

}  // namespace

LibraryWait current_library_wait() {
  const std::int64_t allowance = allowance_now.load(std::memory_order_relaxed);
  if (allowance == nowhere) return {false, {}, turn()};
  return {true, std::chrono::milliseconds(allowance), turn()};
}

std::uint64_t library_rounds() { return rounds.load(std::memory_order_relaxed); }

void note_library_round() { rounds.store(library_rounds() + 1, std::memory_order_relaxed); }

void begin_body_turns(Epoch epoch) { begin_stage(stage_of_body(epoch)); }

void begin_recovery_turns(Epoch epoch) { begin_stage(stage_of_recovery(epoch)); }

void join_recovery_turns(Epoch epoch, std::uint32_t step) { begin_stage(stage_of_recovery(epoch), step); }

InLibrary::InLibrary(Step step, std::chrono::milliseconds allowance)
    : step_(step), before_(allowance_now.load(std::memory_order_relaxed)) {
  if (step_ == Step::agreement) take_step();
  note_activity();
  allowance_now.store(allowance.count(), std::memory_order_relaxed);
}

InLibrary::~InLibrary() {
  allowance_now.store(before_, std::memory_order_relaxed);
  note_activity();
  if (step_ == Step::agreement) take_step();
}

std::chrono::milliseconds InLibrary::time_for(std::size_t bytes) {
  constexpr std::size_t bytes_per_ms = 4000;
  return std::chrono::milliseconds(bytes / bytes_per_ms);
}

}  // namespace mend
