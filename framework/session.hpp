#pragma once

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "framework/recovery_report.hpp"
#include "framework/rollback.hpp"
#include "store/member.hpp"
#include "store/store.hpp"

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>
#include <typeindex>

namespace mend {

class Engine;

/// The way in which this process has entered the present epoch.
enum class Role {
  initial,   ///< no failure has happened
  survivor,  ///< it held a rank before the last failure, and still holds it
  newcomer,  ///< it took over a rank in the recovery that began this epoch
};

/// The interface of the body of mend::run: a communicator of living processes, and the data that they protect. A
/// Session is valid until the body is left. Each call of the body gets a new one.
class Session {
 public:
  explicit Session(Engine& engine) : engine_(engine) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Returns the application's communicator. It has as many ranks as were launched, minus the spares, unless some ranks
  /// were given up (--mend-on-failure shrink or blank). Use it for plain MPI calls. Their errors are thrown:
  /// ProcessFailure if a process died (let it pass), EnvironmentError otherwise. Do not free it. Communicators that you
  /// or a library make from it by MPI itself are interrupted like those of derive(), and you free them.
  /// Open MPI's windows (RMA) and files (MPI-IO) do not survive the death of a process that has them open. Local.
  MPI_Comm comm() const;
  /// Returns this process's rank in comm(). Local.
  Rank rank() const;
  /// Returns the number of ranks of comm(). Local.
  int size() const;

  /// Returns the number that this rank had at the start of the job. It differs from rank() after lower ranks were given
  /// up. Local.
  Rank origin() const;
  /// Returns the number that another rank of comm() had at the start of the job. Local. Throws UsageError if comm() has
  /// no such rank.
  Rank origin(Rank rank) const;
  /// Returns the number of ranks at the start of the job. Local.
  int original_size() const;
  /// Returns the rank in comm() of the rank that had the number `origin` at the start; nothing if it was given up.
  /// Local. Throws UsageError if there was no such rank.
  std::optional<Rank> rank_in_comm(Rank origin) const;

  /// Returns the number of recoveries so far. Local.
  Epoch epoch() const;
  /// Returns how this process has entered the present epoch. Local.
  Role role() const;
  /// Returns the process that holds this rank. Local.
  ProcessId process() const;
  /// Returns the number of processes that held this rank before this one. Local.
  int predecessors() const;

  /// Returns which processes roll back when a process dies (--mend-rollback). Local.
  Rollback rollback() const;

  /// Returns the data that the ranks protect. Local.
  Store& store() const;

  /// Counts a step, and returns true if the step should end with a commit: every n steps, or at the interval of Young
  /// and Daly, as the options say, or because the job was asked to leave or to write a version. Call it once a step on
  /// every rank. It returns the same on every rank. In some steps, about one a second, it is collective over the ranks.
  bool commit_due();

  /// Returns true if the job was asked to leave: because its time limit is near (mend run --time-limit), by SIGTERM
  /// (--mend-on-term checkpoint) or by `mend stop`. It becomes true at a commit, so at the same step on every rank;
  /// with --mend-disk, that commit is on disk then. Return from the body on every rank: the job then ends with exit
  /// code 4, and its next launch continues. A program that never calls this is ended at the commit, if it has a disk.
  /// Local.
  bool should_exit();

  /// Returns true if `flag` is true on every rank. Use it to leave an iterative solver together. Collective. Throws
  /// ProcessFailure on all ranks alike if a process died.
  bool agree(bool flag);

  /// Throws ProcessFailure if a rank is known to have died. Local; costs one load. Use it in long stretches without
  /// MPI.
  void check();

  /// Returns a communicator that `factory` makes from the session's: a split, a topology, a dup, also in several steps.
  /// mend interrupts it if a process fails, so that no rank stays blocked in it, and frees it unless you have done so.
  /// It belongs to this epoch: in the next one MPI calls with it return errors, and after that it is freed. A rank
  /// whose factory returns MPI_COMM_NULL takes no part. Collective over the session's ranks, in the same order on each.
  MPI_Comm derive(const std::function<MPI_Comm(MPI_Comm)>& factory);
  /// Returns a Cartesian topology, made as by derive(). Ranks keep their numbers.
  MPI_Comm cart(std::span<const int> dims, std::span<const int> periods);
  /// Returns a duplicate, made as by derive().
  MPI_Comm dup();
  /// Returns a communicator of some of the ranks, made as by derive().
  MPI_Comm split(int color, int key);

  /// Recovers in place, instead of leaving the body. For a survivor that has caught ProcessFailure. Afterwards comm()
  /// and the other functions refer to a new epoch, communicators derived before are invalid, and members stay protected
  /// with their present values. A newcomer enters the body from its beginning meanwhile, so what survivors do next (a
  /// restore() on all ranks, or sending the newcomer its data) must match what the body does there. Collective over the
  /// ranks: the others call it too, or leave the body. Throws if the job cannot continue: let the exception pass.
  /// Throws UsageError in a callback of on_repair(); in a transaction, it ends the job.
  void repair();

  /// Registers `callback`, which is called at the end of each repair(), after those that were registered before it.
  /// Register outer layers of a stack of libraries first, so that inner layers find repaired what they build on. A
  /// callback that throws ends the repair there; after another failure the next repair() begins with the first callback
  /// again. Callbacks are forgotten when the body is left. Local.
  void on_repair(std::function<void()> callback);

  /// Adds a field to the job's result file (mend run --result FILE), which `mend report` shows and compares: a
  /// parameter, a norm, a number of steps. The fields of rank 0 are written. A field that is reported again gets the
  /// new value. A field whose value depends on failures makes the reports of runs differ. Local.
  template <class T>
  requires std::is_arithmetic_v<T>
  void report(std::string_view name, T value) {
    if constexpr (std::is_floating_point_v<T>) {
      report_number(name, static_cast<double>(value));
    } else if constexpr (std::is_unsigned_v<T>) {
      report_whole_number(name, static_cast<unsigned long long>(value));
    } else {
      report_whole_number(name, static_cast<long long>(value));
    }
  }
  /// The same for a text.
  void report(std::string_view name, std::string_view text);
  /// Adds this rank's part of the answer to the hash in the result file. The hash is over the parts of all ranks, in
  /// rank order; several parts of a rank follow each other. Local.
  void report_hash(std::span<const std::byte> part);
  /// The same for a range of plain values.
  template <PlainRange T>
  void report_hash(const T& part) {
    report_hash(std::as_bytes(std::span(std::ranges::data(part), std::ranges::size(part))));
  }

  /// Returns a T that belongs to this call of the body, for libraries on top of mend. It is made from the session at
  /// the first call, and destroyed when the body is left. Local.
  template <class T>
  T& of_this_entry() {
    std::shared_ptr<void>& one = of_this_entry_[typeid(T)];
    if (!one) one = std::make_shared<T>(*this);
    return *static_cast<T*>(one.get());
  }

  /// Returns the recoveries so far, oldest first, with times as this process saw them. The deaths are the same on every
  /// process. With --mend-on-failure blank, ranks are named by their origin(). Local.
  std::span<const RecoveryReport> recoveries() const;

 private:
  void report_number(std::string_view name, double value);
  void report_whole_number(std::string_view name, long long value);
  void report_whole_number(std::string_view name, unsigned long long value);

  friend bool transaction(Session& session, const std::function<bool()>& work);
  Engine& engine_;
  std::map<std::type_index, std::shared_ptr<void>> of_this_entry_;
};

/// Runs `work` as a unit. If it returns true on every rank, the protected data is committed. Otherwise, and after a
/// failure, all ranks get back the protected data of the last commit or restore before the unit. It commits first if
/// there is none that has all members of every rank. Commits inside `work` count only if the unit does, and do not go
/// to disk. Units may be nested: inner units count if the outermost does. While there are commits inside, one more
/// version is kept for each. Returns true if the work was committed, false if it was rolled back. Collective over the
/// session's ranks; `work` takes part in the same MPI calls on every rank, whatever it returns. Throws as commit and
/// restore do, and what `work` throws: then the next restore() rolls back to the state before the unit.
bool transaction(Session& session, const std::function<bool()>& work);

}  // namespace mend
