// The stores of a job without the framework: ranks lose their memory instead of dying.

#pragma once

#include "agreement/ballot.hpp"
#include "agreement/mpix_agreement.hpp"
#include "base/ids.hpp"
#include "store/engine/store_engine.hpp"
#include "transport/mpi.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

/// The epochs of one job, over MPI_COMM_WORLD by default, and this rank's store in them. Functions are collective
/// unless they say otherwise.
class Epochs {
 public:
  /// `nodes[r]`: the node on which rank r pretends to run; if empty, all are on one node.
  explicit Epochs(std::vector<mend::NodeId> nodes = {}, mend::Redundancy redundancy = {}, int versions = 2,
                  std::optional<mend::DiskOptions> disk = std::nullopt, MPI_Comm all = MPI_COMM_WORLD,
                  mend::FindChanges how = mend::FindChanges::by_hash)
      : all_(all),
        nodes_(std::move(nodes)),
        redundancy_(redundancy),
        versions_(versions),
        disk_(std::move(disk)),
        how_(how) {
    make_store();
    MPI_Comm_rank(all_, &rank_);
    MPI_Comm_size(all_, &size_);
    nodes_.resize(static_cast<std::size_t>(size_), nodes_.empty() ? mend::NodeId{} : nodes_.back());
    begin();
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  mend::StoreEngine& store() { return *store_; }
  mend::agreement::Ballot& ballot() { return *ballot_; }

  /// Makes the others leave calls in which they are blocked. Local.
  void interrupt() { mend::revoke(comm_); }

  /// Begins an epoch in which the `newcomers` do not know the earlier ones.
  void next(const std::vector<int>& newcomers = {}) {
    if (std::find(newcomers.begin(), newcomers.end(), rank_) != newcomers.end()) make_store();
    epoch_ = epoch_.next();
    begin();
  }

  /// Begins an epoch with only the ranks of `all`.
  void go_on_among(MPI_Comm all) {
    all_ = all;
    MPI_Comm_rank(all_, &rank_);
    MPI_Comm_size(all_, &size_);
    nodes_.resize(static_cast<std::size_t>(size_));
    next();
  }

 private:
  void make_store() { store_.emplace(redundancy_, versions_, disk_, how_); }
  void begin() {
    store_->end_epoch();
    ballot_.reset();
    MPI_Comm_dup(all_, &comm_);
    mend::throw_errors_of(comm_);
    ballot_.emplace(std::make_unique<mend::agreement::MpixAgreement>(comm_), mend::Rank{rank_}, size_);
    store_->begin_epoch(comm_, *ballot_, nodes_, epoch_);
  }

  MPI_Comm all_;
  int rank_ = 0;
  int size_ = 1;
  std::vector<mend::NodeId> nodes_;
  mend::Redundancy redundancy_;
  int versions_;
  std::optional<mend::DiskOptions> disk_;
  mend::FindChanges how_;
  mend::Epoch epoch_;
  MPI_Comm comm_ = MPI_COMM_NULL;  // never freed: others may still send in it
  std::optional<mend::agreement::Ballot> ballot_;
  std::optional<mend::StoreEngine> store_;
};
