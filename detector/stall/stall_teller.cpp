#include "detector/stall/stall_teller.hpp"

#include "base/error.hpp"
#include "base/telemetry/job_status.hpp"
#include "base/launch.hpp"
#include "base/telemetry/log.hpp"
#include "base/telemetry/rollback_note.hpp"
#include "detector/local/local_process.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace mend::detector {
namespace {

constexpr Time longest_look = std::chrono::seconds(2);  // twice the time between two ticks

}  // namespace

StallTeller::StallTeller(ProcessId self, const StallLimits& limits, Owner owner)
    : self_(self), owner_(std::move(owner)), watch_(self, limits) {}

/// In the body, the time counts from the moment when this thread noticed a move of the application's thread.
Whereabouts StallTeller::whereabouts(Time now) {
  using std::chrono::milliseconds;
  const CurrentPlace current = current_place();
  const Activity activity = current_activity();
  look(activity, now);
  const LibraryWait wait = current_library_wait();
  const bool is_in_library = wait.waits || activity.call != MpiCall::none;
  const auto still = std::chrono::duration_cast<milliseconds>(still_);
  const milliseconds held = is_in_library ? std::max(still - wait.allowance, milliseconds(0)) : milliseconds(0);
  const bool is_idle = held.count() > 0 && silent_ >= still_;
  const bool is_in_body = current.place == Place::none;
  return {.place = current.place,
          .rank = current.rank,
          .waited = std::chrono::duration_cast<milliseconds>(is_in_body ? now - moved_at_ : now - current.since),
          .visit = is_in_body ? activity.moves : static_cast<std::uint64_t>(current.since.count()),
          .call = is_in_body ? activity.call : MpiCall::none,
          .held = held,
          .turn = wait.turn,
          .is_idle = is_idle,
          .has_gone_back = rollback_note::has_gone_back,
          .polled = !is_in_library && is_polling() ? still : milliseconds(0)};
}

/// Adds to the time without a move. Time in which this thread could not run, because the process was stopped for
/// instance, does not count.
void StallTeller::look(const Activity& activity, Time now) {
  const bool has_moved = std::exchange(moves_, activity.moves) != activity.moves;
  if (has_moved) moved_at_ = now;
  const Time passed = std::min(now - looked_at_, longest_look);
  still_ = has_moved ? Time{0} : still_ + passed;
  const bool polls = polls_now(now);
  polled_ = has_moved ? Time{0} : polled_ + (polls ? passed : Time{0});
  computed_ = has_moved || polls ? Time{0} : computed_ + passed;
  silent_ = std::exchange(rounds_, library_rounds()) != library_rounds() ? Time{0} : silent_ + passed;
  looked_at_ = now;
}

/// Returns true if the application's thread polls for messages and computes nothing, as far as is seen now: it has
/// polled lately, it is in a poll or sleeps, and no other thread of the process computes.
bool StallTeller::polls_now(Time now) {
  const Polls polls = current_polls();
  if (std::exchange(polls_, polls.begun) != polls.begun) polled_at_ = now;
  if (now - polled_at_ > longest_look) return false;
  return (polls.is_in_one || own_main_thread_sleeps()) && !other_own_threads_compute();
}

/// Returns true if the thread polls. In single looks it may be between two polls.
bool StallTeller::is_polling() const { return 2 * polled_ > still_ && 4 * computed_ <= still_; }

void StallTeller::arrived(ProcessId from, std::span<const std::byte> bytes, Time now) {
  watch_.receive(from, read_stall_message(bytes), now, whereabouts(now), actions_);
  perform();
}

void StallTeller::tick(Time now) {
  if (takes_stack_ && stack_.is_there()) {
    takes_stack_ = false;
    say_stack(now);
    watch_.stack_shown(actions_);
  }
  watch_.tick(now, whereabouts(now), actions_);
  perform();
}

void StallTeller::perform() {
  const StallActions actions = std::exchange(actions_, {});
  if (!actions.warning.empty()) log::warn(actions.warning);
  if (!actions.end_sentence.empty()) log::error(actions.end_sentence);
  std::vector<std::byte> bytes;
  for (const auto& [to, message] : actions.sends) {
    bytes.clear();
    write(message, bytes);
    owner_.send(to, bytes);
  }
  if (actions.show_stack) {
    owner_.hold_nobody_dead();
    stack_.take();
    takes_stack_ = true;
  }
  if (actions.stuck) owner_.hold_dead(*actions.stuck, still_);
  if (actions.go_back) rollback_note::waits_in_vain = true;
  if (actions.leave) leave();
}

void StallTeller::say_stack(Time now) {
  const Whereabouts where = whereabouts(now);
  const std::string process = fmt::format("process {} on {}", self_.value, launch::machine());
  const std::string who = where.rank ? fmt::format("rank {} ({})", where.rank->value, process) : process;
  log::error(fmt::format("{} is {}:\n{}", who, describe(where.place), stack_.text()));
}

/// The application's thread may be anywhere, so nothing is cleaned up.
void StallTeller::leave() const {
  job_status::finished(ExitCode::failed);
  for (;;) ::syscall(SYS_exit_group, static_cast<int>(ExitCode::failed));  // _exit would report it as a death
}

}  // namespace mend::detector
