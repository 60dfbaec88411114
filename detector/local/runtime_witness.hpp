// The runtime as a witness of deaths, and the record of all deaths that this process knows of.
//
// The daemon that started a process is the first to know that it is gone, because the kernel tells it. PMIx passes this
// on as an event to every process of the launch, in a thread of its own. So it arrives while the application computes,
// and costs nothing while nothing happens. The same channel carries a call from one process to all others, which wakes
// waiting spares: they wait on a condition variable, at no CPU cost, instead of polling MPI.
//
// Other witnesses report what the runtime does not see, such as a process that hangs or a machine that is cut off
// (detector/service.hpp). Their reports go on the same record, and can be passed on to the MPI library, which listens
// to the runtime like mend.

#pragma once

#include "base/clock.hpp"
#include "base/death/death_cause.hpp"
#include "base/ids.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace mend {

/// The runtime's name of a process. Sent as it is.
struct RuntimeName {
  std::array<char, 256> job{};  ///< the launch that it belongs to
  std::uint32_t rank = 0;       ///< its rank in that launch

  /// Returns this process's own name.
  static RuntimeName self();
};

/// A death that was reported, and the time when the report reached this process.
struct WitnessedDeath {
  ProcessId process;
  WallClock::time_point when;
};

/// A view of the events reported to this process. Deaths are facts about the whole life of the process, so all views in
/// a process see the same. Listening never stops before the process ends.
class RuntimeWitness {
 public:
  /// Starts to listen. MPI must be initialised. Local. Throws EnvironmentError if the runtime accepts no listeners.
  RuntimeWitness();

  /// Records that `process` was started later than the job, and that the runtime calls it `name`. Call it before any
  /// other call that concerns `process`. The runtime does not report its death to processes of other launches. Local.
  void know(ProcessId process, const RuntimeName& name);

  /// Returns true if the runtime will report the death of `process` to this process. Local.
  bool tells_of(ProcessId process) const;

  /// Returns how many deaths have been reported so far; costs one load.
  std::size_t death_count() const;

  using Matters = std::function<bool(ProcessId)>;
  /// Returns true if a death was reported for which `matters` returns true.
  bool has_died(const Matters& matters) const;

  /// Returns all deaths reported so far, in the order of the reports.
  std::vector<WitnessedDeath> deaths() const;

  /// Returns the cause of the death of `process`, as far as it was reported to this process. The runtime reports it
  /// when the daemon has seen the process end.
  DeathCause cause_of(ProcessId process) const;

  /// Records the cause of the death of `process`, by another witness. Any thread. Local.
  void note_cause(ProcessId process, DeathCause cause);

  /// Tells every process of the launch the cause of the death of `process`, which the process itself or its observer
  /// knows and the runtime does not. Any thread. Local; returns at once.
  void tell_cause(ProcessId process, DeathCause cause);
  /// The same for this process, which ends next. Returns when the daemon of this machine has read it. Must not be
  /// called in the control thread.
  void tell_own_cause(ProcessId self, DeathCause cause);

  /// Returns when the causes of all these deaths are known, or after a second. Local.
  void wait_for_causes(std::span<const ProcessId> dead) const;

  /// Calls `listener`, in any thread, whenever a death or the cause of one has been recorded. An empty function stops
  /// that; when this returns, no call is under way. One listener per process.
  void on_news(std::function<void()> listener);

  /// Records the death of `process`, as reported by another witness. Any thread. Local.
  void report(ProcessId process);

  /// Makes the MPI library in this process, and in no other, consider `process` dead: MPI calls that wait for it return
  /// errors. The process need not be dead yet. Any thread, until MPI is finalised. Local; returns at once.
  void tell_library(ProcessId process);

  /// Calls `listener`, in a thread of the runtime, for each death that the runtime reports, even if it was on record
  /// already. An empty function stops that; when this returns, no call is under way. One listener per process.
  void on_death(std::function<void(ProcessId)> listener);

  /// Calls every process of the launch to leave wait() for `epoch`. With `because_of`, only those leave for which the
  /// death of this process is a reason. Local; returns before they have left.
  void call(Epoch epoch, std::optional<ProcessId> because_of = std::nullopt);

  /// Tells every process of the launch that is in wait() the sizes for which it should have memory. Local; returns
  /// before they know.
  void advise(std::span<const ByteCount> sizes);

  /// Tells every process of the launch that the job has committed `version`. It is for the case that no process is left
  /// that knows this by itself. Local; returns when the daemon of this machine has read it. The daemon reports this
  /// process's death only after that.
  void announce(Version version);

  /// Returns the newest version that was announced to this process in this way; Version{0} if there was none. Local.
  Version announced() const;

  /// Records a version that this process has learned of in another way. Local.
  void hear(Version announced);

  /// Handles an advice. It should check from time to time whether `time` still returns true.
  using Prepare = std::function<void(std::span<const ByteCount> sizes, const std::function<bool()>& time)>;

  /// The reason why a wait has ended.
  struct Wake {
    Epoch epoch;
    Matters deaths;  ///< a death on record for which this returns true
    Matters calls;   ///< a call because of a death for which this returns true; calls without a reason always do
  };
  /// Blocks, at no CPU cost, until a process called for the epoch of `wake` or a later one, or until one of its deaths
  /// is on record. Calls `prepare` when the ranks advise it.
  void wait(const Wake& wake, const Prepare& prepare = {});
};

/// Tells, when asked repeatedly, whether deaths have been reported since the last time; costs one load.
class DeathNews {
 public:
  bool is_there(const RuntimeWitness& witness) {
    const std::size_t before = std::exchange(heard_, witness.death_count());
    return heard_ != before;
  }

 private:
  std::size_t heard_ = 0;
};

}  // namespace mend
