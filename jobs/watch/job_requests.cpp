#include "jobs/watch/job_requests.hpp"

#include "jobs/say.hpp"
#include "jobs/watch/process_table.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>

namespace mend::jobs {
namespace {

/// A signal may come twice: to the group of this process, and from a script that passes it on.
constexpr std::chrono::milliseconds one_signal{300};
/// Between two signals that mpirun passes on.
constexpr std::chrono::milliseconds between_signals{1'000};

}  // namespace

void JobRequests::look(pid_t mpirun) {
  const auto now = Clock::now();
  if (leaves() && is_passed_on() && (!passed_on_at_ || now - *passed_on_at_ > between_signals)) {
    passed_on_at_ = now;
    ::kill(mpirun, SIGURG);
  }
  if (!leave_at_ || now < *leave_at_) return;
  leave_at_.reset();
  say(ask_to_leave(board::Leave::time_limit) ? "the time limit is near: the job is asked to leave at its next commit"
                                             : "the time limit is near: processes of the job that come on this machine "
                                               "are asked to leave at their next commit");
}

bool JobRequests::heed(int signal) {
  if (signal != SIGTERM) return false;
  if (signalled_at_) return heeds_ && Clock::now() - *signalled_at_ < one_signal;
  signalled_at_ = Clock::now();
  const auto slots = board_.slots();
  const auto heeds = [](const board::Slot* slot) { return slot->heeds_sigterm != 0; };
  // A process has a slot as soon as it is loaded, and a number once it is in mend::run, where it says whether it heeds.
  const auto has_come = [](const board::Slot* slot) { return slot->process != board::Slot::none; };
  heeds_ = std::ranges::any_of(slots, has_come) ? std::ranges::any_of(slots, heeds) : expected_.heeds_sigterm;
  if (!heeds_) return false;
  ask_to_leave(board::Leave::signal_to_launcher);
  say("SIGTERM: the job is asked to leave at its next commit; a second SIGTERM ends it at once");
  return true;
}

bool JobRequests::ask_to_leave(board::Leave why) {
  board_.requests().leave = std::max(board_.requests().leave.load(), static_cast<std::uint32_t>(why));
  return !board_.slots().empty() || is_passed_on();
}

bool JobRequests::ask_for_version() {
  ++board_.requests().writes;
  return !board_.slots().empty();
}

std::uint32_t JobRequests::ask_for_look() {
  const auto asks_others = [](const board::Slot* slot) {
    return slot->asks_others != 0 && condition_of(slot->pid) == Condition::alive;
  };
  return std::ranges::any_of(board_.slots(), asks_others) ? ++board_.requests().looks : 0;
}

bool JobRequests::is_heard() const {
  return std::ranges::any_of(board_.slots(), [](const board::Slot* slot) { return slot->rank != board::Slot::none; });
}

DiskUse JobRequests::disk() const {
  DiskUse use = DiskUse::none;
  for (const board::Slot* slot : board_.slots()) use = std::max(use, slot->disk.load());
  return use;
}

bool JobRequests::leaves() const { return board_.requests().leave != 0; }

}  // namespace mend::jobs
