#pragma once

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "framework/recovery_report.hpp"
#include "store/member.hpp"
#include "store/store.hpp"

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>

namespace mend {

class Engine;

/// How this process came into the present epoch.
enum class Role {
  initial,   ///< nothing has failed yet
  survivor,  ///< it held a rank when something failed, and holds it still
  newcomer,  ///< it took over a rank in the recovery that began this epoch
};

/// What the body of mend::run works with: a communicator of living processes, and the data they protect. A Session
/// is valid until the body is left; each entry gets a new state of it.
class Session {
 public:
  explicit Session(Engine& engine) : engine_(engine) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The application's communicator: the ranks in fixed order, as many as were launched less the spares, unless some
  /// were given up (--mend-on-failure shrink or blank). Use it for plain MPI calls, whose errors are thrown:
  /// ProcessFailure when a process died (let it pass), EnvironmentError otherwise. Do not free it. What you or a
  /// library make of it by MPI itself, unless by MPI_Comm_idup, is interrupted like what derive() makes, and yours to
  /// free. Open MPI's windows (RMA) and files (MPI-IO) do not outlive the death of a process that has them open.
  MPI_Comm comm() const;
  Rank rank() const;
  int size() const;

  /// After a rank was given up. Where those above it close up (shrink), rank() and size() are those of comm(). Where
  /// they keep their numbers (blank), rank() is what it was at the start, and so is size(): the ranks given up leave
  /// holes. The rank in comm() of the rank with this number; nothing for a hole. Local.
  std::optional<Rank> rank_in_comm(Rank rank) const;
  /// What the rank with this number was numbered at the start. Local.
  Rank origin(Rank rank) const;

  Epoch epoch() const;
  Role role() const;
  /// The process that plays this rank, and how many played it before.
  ProcessId process() const;
  int predecessors() const;

  Store& store() const;

  /// Counts a step, and says whether to commit at its end: every n steps, or at the interval of Young and Daly, as
  /// the options say. The same answer on every rank. Call it once a step on every rank.
  bool commit_due();

  /// Whether `flag` is true on every rank. Collective; survives failures: throws ProcessFailure on every rank alike.
  /// Use it to leave an iterative solver together.
  bool agree(bool flag);

  /// Throws ProcessFailure when a rank is known to have died. Local, costs a load: for long stretches without MPI.
  void check();

  /// A communicator made from the session's by `factory` (a split, a topology, a dup; several steps). Collective over
  /// the session's ranks, in the same order on each. mend interrupts it when a process fails, so that nobody stays
  /// blocked in it, and frees it, unless you have done so. It is for this epoch: in the next, MPI calls with it return
  /// errors, and after that it is gone. A rank whose factory returns MPI_COMM_NULL takes no part.
  MPI_Comm derive(const std::function<MPI_Comm(MPI_Comm)>& factory);
  /// The same, for a Cartesian topology; ranks keep their numbers.
  MPI_Comm cart(std::span<const int> dims, std::span<const int> periods);
  MPI_Comm dup();
  MPI_Comm split(int color, int key);

  /// Recovers in place, instead of leaving the body: to be called by a survivor that has caught ProcessFailure. When it
  /// returns, comm() and the rest are those of a new epoch; communicators derived before are of no use any more;
  /// members stay protected, with whatever values they have here. A newcomer enters the body from its beginning
  /// meanwhile, so what the survivors do next (a restore() on all ranks, say, or sending the newcomer its data) must
  /// match what the body does there. Collective over the ranks: the others come here too, or leave the body, which
  /// amounts to the same. Throws when the job cannot go on: let that pass. Throws UsageError in a callback of
  /// on_repair(); in a transaction, it ends the job.
  void repair();

  /// Has `callback` called at the end of each repair(), after those registered before it: register outer layers of a
  /// stack of libraries first, inner ones then find what they build on repaired. One that throws ends the repair there;
  /// after another failure the next repair() begins with the first again. Forgotten when the body is left. Local.
  void on_repair(std::function<void()> callback);

  /// Adds a field to the job's result file (mend run --result FILE), which `mend report` tells and compares: a
  /// parameter, a norm, a number of steps. Those of rank 0 are written; without such a file nothing is. A field that is
  /// reported again has its new value; one that depends on what has died makes runs differ. Local.
  template <class T>
  requires std::is_arithmetic_v<T>
  void report(std::string_view name, T value) {
    if constexpr (std::is_floating_point_v<T>) {
      report_number(name, static_cast<double>(value));
    } else {
      report_whole_number(name, static_cast<long long>(value));
    }
  }
  void report(std::string_view name, std::string_view text);
  /// Adds this rank's part of the answer to the hash in that file, which has the parts of all ranks, in rank order.
  /// Several parts are one after another. Local.
  void report_hash(std::span<const std::byte> part);
  template <PlainRange T>
  void report_hash(const T& part) {
    report_hash(std::as_bytes(std::span(std::ranges::data(part), std::ranges::size(part))));
  }

  /// The recoveries so far, oldest first, as this process saw them. The same deaths on every process.
  std::span<const RecoveryReport> recoveries() const;

 private:
  void report_number(std::string_view name, double value);
  void report_whole_number(std::string_view name, long long value);

  friend bool transaction(Session& session, const std::function<bool()>& work);
  Engine& engine_;
};

/// Runs `work` as a unit: if it returns true on every rank, what is protected is committed; if not, it is what the last
/// commit or restore before has left, on every rank, and what `work` has committed meanwhile is taken back too. So it
/// is if a process dies: the next restore() goes back to before the unit; and nothing inside it goes to disk. Units may
/// be nested: those inside hold when the outermost does. While there are commits inside, one more version is kept for
/// each. Returns which. `work` takes part in the same MPI calls as on the other ranks, whatever it returns. Collective
/// over the session's ranks. Throws as commit and restore do, and what `work` throws: then what it has committed is no
/// version any more, and the next restore() goes back to before the unit.
bool transaction(Session& session, const std::function<bool()>& work);

}  // namespace mend
