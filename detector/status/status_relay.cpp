#include "detector/status/status_relay.hpp"

#include "base/clock.hpp"
#include "base/launch.hpp"
#include "base/telemetry/job_board.hpp"
#include "base/telemetry/microseconds.hpp"
#include "base/telemetry/resident_bytes.hpp"

#include <unistd.h>

#include <algorithm>

namespace mend::detector {
namespace {

using std::chrono::microseconds;

microseconds microseconds_now() { return in_microseconds(Clock::now()); }

microseconds age_of(microseconds then) { return std::max(microseconds_now() - then, microseconds{0}); }

ProcessState own_state() {
  const board::Slot& mine = board::mine();
  const board::Whereabouts now = board::whereabouts(mine);
  const microseconds committed{mine.committed_at.load()};
  return {::getpid(),
          mine.rank == board::Slot::none ? std::nullopt : std::optional(Rank{mine.rank.load()}),
          mine.epoch,
          mine.version,
          committed.count() == 0 ? std::nullopt : std::optional(age_of(committed)),
          mine.disk_version,
          mine.store_bytes,
          resident_bytes(::getpid()),
          mine.disk,
          now.place,
          age_of(now.since),
          now.call,
          launch::machine()};
}

void write_on_board(ProcessId process, const ProcessState& state, std::uint32_t look) {
  board::SlotElsewhere* const slot = board::slot_elsewhere(process);
  if (slot == nullptr) return;
  slot->pid = state.pid;
  slot->rank = state.rank ? state.rank->value : board::Slot::none;
  slot->epoch = state.epoch;
  slot->version = state.version;
  slot->committed_at = state.since_commit ? (microseconds_now() - *state.since_commit).count() : 0;
  slot->disk_version = state.disk_version;
  slot->store_bytes = state.store_bytes;
  slot->resident_bytes = state.resident_bytes;
  slot->disk = state.disk;
  board::set_whereabouts(*slot, {state.place, microseconds_now() - state.since_place, state.call});
  for (std::size_t i = 0; i < slot->machine.size(); ++i)
    slot->machine[i] = i < state.machine.size() && i + 1 < slot->machine.size() ? state.machine[i] : '\0';
  slot->answered = look;
}

}  // namespace

void StatusRelay::ask(std::uint32_t look, const ProcessSet& living) {
  const ProcessSet elsewhere = difference(living, ProcessSet::of(board::processes_here()));
  for (board::SlotElsewhere* const slot : board::slots_elsewhere()) {
    const bool lives = elsewhere.contains(ProcessId{static_cast<std::uint32_t>(slot->process.load())});
    slot->is_dead = lives ? 0 : 1;
  }
  std::vector<std::byte> question;
  write(StatusMessage{look, std::nullopt}, question);
  for (const ProcessId process : elsewhere.members()) {
    if (board::slot_elsewhere(process) != nullptr) send_(process, question);
  }
  board::asked_for_look(look);
}

void StatusRelay::arrived(ProcessId from, std::span<const std::byte> bytes) {
  const StatusMessage message = read_status_message(bytes);
  if (message.state) return write_on_board(from, *message.state, message.look);
  std::vector<std::byte> answer;
  write(StatusMessage{message.look, own_state()}, answer);
  send_(from, answer);
}

}  // namespace mend::detector
