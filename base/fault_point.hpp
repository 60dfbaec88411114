// The named places of mend's protocols: where a test may kill a process, and what the trace shows.
//
// Correctness under failures is shown by dying at every place where dying matters. Each such place has a name,
// `room.step`, and announces itself by reach(). Normally nobody listens and the call is one branch.

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

/// Called with the point's name; may well not return (a test kills the process here). disk.write, disk.rename,
/// disk.manifest and disk.clean are reached in a thread of the store's.
using FaultPointListener = std::function<void(std::string_view point)>;

/// Has `listener` called at every point this process reaches from now on; an empty one stops that. Local; main
/// thread only. There is one listener per process.
void on_fault_point(FaultPointListener listener);

namespace detail {
extern std::atomic<bool> fault_points_watched;
void announce_fault_point(std::string_view point);
}  // namespace detail

/// Says that this process is now at `point`.
inline void reach(std::string_view point) {
  if (detail::fault_points_watched.load(std::memory_order_relaxed)) [[unlikely]] {
    detail::announce_fault_point(point);
  }
}

}  // namespace mend
