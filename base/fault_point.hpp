// The named fault points of mend's protocols. Tests kill a process at them, and the trace shows them.
//
// Correctness under failures is tested by killing a process at every point where its death matters. Each point has a
// name, `room.step`, and announces itself by reach(). Without a listener, the call costs one branch.

#pragma once

#include <atomic>
#include <functional>
#include <string_view>

namespace mend {

/// The points that mend announces.
inline constexpr std::string_view fault_points[] = {
    "init.before",
    "init.after",
    "start.introduce",
    "start.introduced",
    "agreement.send",
    "agreement.receive",
    "agreement.decided",
    "ballot.before",
    "decision.before",
    "commit.pack",
    "commit.exchange",
    "commit.vote",
    "commit.publish",
    "restore.inventory",
    "restore.vote",
    "restore.exchange",
    "restore.transfer",
    "restore.unpack",
    "restore.protect",
    "restore.done",
    "recovery.interrupt",
    "recovery.begin",
    "recovery.settle",
    "recovery.shrink",
    "recovery.shrunk",
    "recovery.plan",
    "recovery.split",
    "recovery.split_store",
    "recovery.confirm",
    "recovery.done",
    "spare.parked",
    "spare.prepare",
    "spare.prepared",
    "spare.woken",
    "finish.before",
    "finish.after",
    "end.say",
    "finalize.before",
    "disk.begin",
    "disk.write",
    "disk.rename",
    "disk.save",
    "spawn.wait",
    "spawn.meet",
    "spawn.connect",
    "spawn.create",
    "spawn.merge",
    "spawn.confirm",
    "spawn.admit",
    "spawn.done",
    "newcomer.call",
    "newcomer.introduce",
    "newcomer.connect",
    "newcomer.create",
    "newcomer.greet",
    "newcomer.merge",
    "newcomer.merged",
    "newcomer.admitted",
    "disk.index",
    "disk.manifest",
    "disk.clean",
    "disk.read",
};

/// Called with the name of the point. It may not return: a test kills the process here. disk.write, disk.rename,
/// disk.manifest and disk.clean are reached in a thread of the store.
using FaultPointListener = std::function<void(std::string_view point)>;

/// Calls `listener` at every point that this process reaches from now on; an empty function stops that. Local; main
/// thread only. There is one listener per process.
void on_fault_point(FaultPointListener listener);

namespace detail {
extern std::atomic<bool> fault_points_watched;
void announce_fault_point(std::string_view point);
}  // namespace detail

/// Announces that this process is at `point`.
inline void reach(std::string_view point) {
  if (detail::fault_points_watched.load(std::memory_order_relaxed)) [[unlikely]] {
    detail::announce_fault_point(point);
  }
}

}  // namespace mend
