// The runtime as a witness of deaths, and the record of all deaths that this process knows of.
//
// The daemon that started a process is the first to know that it is gone: the kernel tells it. PMIx passes that on
// as an event to every process of the launch, in a thread of its own, so it arrives while the application computes,
// and costs nothing while nothing happens. The same channel carries a call from one process to all others, which is
// how waiting spares are woken: they wait on a condition variable, at no CPU cost, instead of polling MPI.
//
// What the runtime does not see - a process that hangs, a machine that is cut off - other witnesses report
// (detector/service.hpp). Their word goes on the same record, and can be passed on to the MPI library, which listens
// to the runtime as this does.

#pragma once

#include "base/clock.hpp"
#include "base/death/death_cause.hpp"
#include "base/ids.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace mend {

/// How the runtime calls a process. Sent as it is.
struct RuntimeName {
  std::array<char, 256> job{};  ///< what was launched with it
  std::uint32_t rank = 0;       ///< in that

  /// This process's own.
  static RuntimeName self();
};

/// A death that was reported, and when the report reached this process.
struct WitnessedDeath {
  ProcessId process;
  WallClock::time_point when;
};

/// A view of what this process has been told. Deaths are facts about the process's whole life, so all views
/// in a process see the same; the listening itself never stops before the process ends.
class RuntimeWitness {
 public:
  /// Listens from now on. MPI must be initialised. Local. Throws EnvironmentError when the runtime takes no listeners.
  RuntimeWitness();

  /// `process` was started later than the job, and the runtime calls it `name`. To be said before anything is done that
  /// concerns it. The runtime does not tell those who were launched with others of its death. Local.
  void know(ProcessId process, const RuntimeName& name);

  /// Whether the runtime is to tell this process of that one's death. Local.
  bool tells_of(ProcessId process) const;

  /// How many deaths have been reported so far; costs one load.
  std::size_t death_count() const;

  using Matters = std::function<bool(ProcessId)>;
  /// Whether one has been reported for which `matters` says yes.
  bool has_died(const Matters& matters) const;

  /// All deaths reported so far, in the order they were.
  std::vector<WitnessedDeath> deaths() const;

  /// What `process` has died of, as far as this process was told. The runtime tells when the daemon has seen it end.
  DeathCause cause_of(ProcessId process) const;

  /// Puts on record what `process` has died of, by another witness. Any thread. Local.
  void note_cause(ProcessId process, DeathCause cause);

  /// Tells every process of the launch what `process` dies of, or has died of: what itself or its observer knows and
  /// the runtime does not. Any thread. Local; returns at once.
  void tell_cause(ProcessId process, DeathCause cause);
  /// The same of this process, which ends next: returns when the daemon of this machine has read it. Not in the control
  /// thread.
  void tell_own_cause(ProcessId self, DeathCause cause);

  /// Returns when the causes of all these deaths are known, or after so long. Local.
  void wait_for_causes(std::span<const ProcessId> dead, Milliseconds patience) const;

  /// Has `listener` called, in any thread, whenever a death or the cause of one has been put on record. An empty one
  /// stops that: when this returns, no call is under way. One listener in a process.
  void on_news(std::function<void()> listener);

  /// Puts on record what another witness knows. Any thread. Local.
  void report(ProcessId process);

  /// Has the MPI library in this process, and no other, take `process` for dead: its calls that wait for it return
  /// with errors. It need not be true yet. Any thread, until MPI is finalised. Local; returns at once.
  void tell_library(ProcessId process);

  /// Has `listener` called, in a thread of the runtime, for each death that the runtime tells of - whether it was on
  /// record or not. An empty one stops that: when this returns, no call is under way. One listener in a process.
  void on_death(std::function<void(ProcessId)> listener);

  /// Calls every process of the launch to come out of wait() in `epoch`. Local; returns before they have.
  void call(Epoch epoch);

  /// Tells every process of the launch that is in wait() what it should have memory for. Local; returns before they
  /// know.
  void advise(std::span<const ByteCount> sizes);

  /// Tells every process of the launch that the job has committed `version`: of those who know by themselves nobody may
  /// be left. Local; returns when the daemon of this machine has read that: it would tell of this process's death
  /// later.
  void announce(Version version);

  /// The newest version that this process was told of in this way; Version{0} when it was told of none. Local.
  Version announced() const;

  /// Puts on record what it was told of otherwise. Local.
  void hear(Version announced);

  /// Takes an advice. Meanwhile it should ask now and then whether there is still `time` for that.
  using Prepare = std::function<void(std::span<const ByteCount> sizes, const std::function<bool()>& time)>;

  /// Blocks, at no CPU cost, until some process called for `epoch` or a later one, or one for which `matters` says
  /// yes is reported dead (or already was). When the ranks advise it to, it does `prepare`.
  void wait(Epoch epoch, const Matters& matters, const Prepare& prepare = {});
};

/// Asked again and again, whether deaths have been reported since; costs one load.
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
