// The clusters of the job, as this process knows them (replay/clusters/clusters.hpp), over all its entries of the body.
//
// In each recovery all ranks exchange their lives. Survivors whose cluster rolls back leave the body then, and enter it
// again. The others wait for them where the new communicators are made.

#pragma once

#include "base/ids.hpp"
#include "framework/local_rollback/clusters/cluster_choice.hpp"
#include "replay/clusters/clusters.hpp"
#include "spares/roster.hpp"

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace mend {

class ClusterRollback {
 public:
  /// What this rank does in a recovery.
  enum class Decision : std::uint8_t {
    goes_on,
    goes_back,     ///< it must leave the body, and enter it again
    has_reentered  ///< it has exchanged its life before it left the body
  };

  explicit ClusterRollback(ClusterChoice choice) : choice_(std::move(choice)) {}

  const ClusterChoice& choice() const { return choice_; }

  /// Begins the job with these ranks. Throws UsageError, on all processes, if the choice does not fit them. Local.
  void begin_job(const Roster& roster);

  /// Exchanges the lives of all ranks, once in a recovery. The others do not wait for a rank that has left the body
  /// after that. `lost`: the steps that this rank would lose if it rolled back now. Collective over `comm`, which
  /// contains all ranks of `roster` and whose errors are thrown.
  Decision decide(const Roster& roster, Rank self, Epoch epoch, std::uint64_t lost, MPI_Comm comm);
  /// Returns true if clusters roll back, and no rank continues where it is. Local.
  bool all_go_back() const { return all_go_back_; }
  /// Called when this process enters the body in this epoch. It has no life yet. Local.
  void enter_body(const Roster& roster, Epoch epoch);
  /// Begins the life of this entry of the body, unless it has one. Called when all ranks continue. Local.
  void begin_life(Epoch epoch);

  /// Returns true until adopt(), if the clusters are to be found by traffic. The same on all ranks. Local.
  bool wants_traffic() const { return choice_.kind == ClusterChoice::Kind::traffic && edition_ == 1; }
  /// Sets the clusters by traffic. They are the same on all ranks, which have committed together in this epoch. Local.
  void adopt(const replay::Clusters& clusters, const Roster& roster, Epoch epoch);

  /// Returns, by rank, whether it is in the cluster of `self`. Valid after decide(), or at the start. Local.
  std::vector<bool> mates(const Roster& roster, Rank self) const;
  /// Returns the cluster of each rank, by rank. Valid after decide(), or at the start. Local.
  replay::Clusters clusters(const Roster& roster) const;

  /// Returns true if `rank` has rolled back since the last call of was_told().
  bool is_back(Rank rank) const;
  /// Records that the last recovery was reported. Local.
  void was_told() { told_ = now_; }
  /// Returns the least number of steps that a survivor of this rank's cluster has lost in the last recovery; nothing if
  /// there were none. Local.
  std::optional<std::uint64_t> lost_by_mates() const { return lost_by_mates_; }

 private:
  /// The entry of the body in which a rank has its life.
  struct Entry {
    ProcessId process;
    std::uint64_t number = 0;
    bool operator==(const Entry&) const = default;
  };

  ClusterChoice choice_;
  std::optional<replay::Clusters> by_origin_;  // nothing in a newcomer that has not met the others
  std::uint64_t edition_ = 0;                  // of the clusters: 1 from the start, 2 by traffic
  std::uint64_t entries_ = 0;
  replay::Life life_;
  std::optional<Epoch> decided_epoch_;  // of the last decide()
  bool all_go_back_ = false;
  std::vector<Entry> now_;
  std::vector<Entry> told_;
  std::optional<std::uint64_t> lost_by_mates_;
};

}  // namespace mend
