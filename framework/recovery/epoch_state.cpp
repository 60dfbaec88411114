#include "framework/recovery/epoch_state.hpp"

#include "agreement/mpix_agreement.hpp"
#include "base/assert.hpp"
#include "base/fault_point.hpp"
#include "base/telemetry/library_wait.hpp"

#include <algorithm>
#include <utility>

namespace mend {
namespace {

MPI_Comm split(MPI_Comm base, std::optional<Rank> rank) {
  MPI_Comm made = MPI_COMM_NULL;
  call_mpi([&] { return MPI_Comm_split(base, rank ? 0 : MPI_UNDEFINED, rank ? rank->value : 0, &made); },
           "MPI_Comm_split");
  if (made != MPI_COMM_NULL) throw_errors_of(made);
  return made;
}

/// Returns the processes in the application's communicator, by rank.
std::vector<ProcessId> holders_of(const Roster& roster) {
  std::vector<ProcessId> holders;
  for (const Seat& seat : roster.seats) holders.push_back(seat.holder.process);
  return holders;
}

/// Checks the properties of an epoch state that the code relies on and that each process can check alone.
void require_consistency(const EpochState& epoch_state, bool complete) {
  const std::vector<ProcessId>& members = epoch_state.members;
  require(static_cast<std::size_t>(epoch_state.base.size()) == members.size(), "all members are in the base");
  require(std::ranges::is_sorted(members), "the members of the base are in ascending order");
  if (!complete) return;
  const Roster& roster = epoch_state.roster;
  require(roster.absent(members).empty(), "everyone in the roster lives");
  MEND_ASSERT(std::ranges::none_of(roster.spares,
                                   [&](const Placed& spare) { return roster.rank_of(spare.process).has_value(); }),
              "no spare holds a rank");
  require(ProcessSet::of(holders_of(roster)).size() == roster.seats.size(), "no process holds two ranks");
  const auto rank = roster.rank_of(members[static_cast<std::size_t>(epoch_state.base.rank())]);
  require(rank.has_value() == static_cast<bool>(epoch_state.application), "the ranks have a communicator, spares none");
  if (!rank) return;
  require(epoch_state.application.rank() == rank->value && epoch_state.store.rank() == rank->value,
          "a process has the rank that the roster gives it");
  require(epoch_state.application.size() == roster.size() && epoch_state.store.size() == roster.size(),
          "all ranks are in the application's communicator");
}

}  // namespace

EpochStateMaker::EpochStateMaker(EpochState& epoch_state, AgreementProvider& agreements, LeftCommunicators& left)
    : epoch_state_(epoch_state), agreements_(agreements), left_(left) {
  if (epoch_state_.base) return;
  epoch_state_.members = launched_processes();
  epoch_state_.processes = static_cast<std::uint32_t>(epoch_state_.members.size());
  epoch_state_.everyone = std::make_unique<agreement::MpixAgreement>(MPI_COMM_WORLD);
}

void EpochStateMaker::begin_candidate() {
  left_.keep(std::move(candidate_.application));
  left_.keep(std::move(candidate_.store));
  left_.keep(std::move(candidate_.base));
  candidate_ = {};
  candidate_.base_group = agreements_.number_group();
  candidate_.ranks_group = agreements_.number_group();
}

void EpochStateMaker::settle() { agreements_.settle(base()); }

recovery::Shrunk EpochStateMaker::shrink() {
  reach("recovery.shrink");
  MPI_Comm shrunk = MPI_COMM_NULL;
  const bool succeeded = [&] {
    const InLibrary in_library;
    return MPIX_Comm_shrink(base(), &shrunk) == MPI_SUCCESS;
  }();
  candidate_.base = Communicator(shrunk);
  reach("recovery.shrunk");
  if (!succeeded) return {false, {}};
  MPI_Comm_set_errhandler(shrunk, MPI_ERRORS_RETURN);
  candidate_.members = members_of(shrunk, base(), epoch_state_.members);
  return {true, candidate_.members};
}

recovery::Agreed EpochStateMaker::agree(recovery::Among among, std::uint32_t contribution) {
  if (among == recovery::Among::base) return {epoch_state_.everyone->agree(contribution)};
  if (!candidate_.everyone)
    candidate_.everyone = agreements_.over(candidate_.base_group, candidate_.base.get(), candidate_.members);
  return {candidate_.everyone->agree(contribution)};
}

recovery::SplitEnded EpochStateMaker::split(std::optional<Rank> rank) {
  try {
    reach("recovery.split");
    candidate_.application = Communicator(mend::split(candidate_.base.get(), rank));
    reach("recovery.split_store");
    candidate_.store = Communicator(mend::split(candidate_.base.get(), rank));
    return {recovery::Making::done};
  } catch (const ProcessFailure&) {
    return {recovery::Making::interrupted};
  }
}

void EpochStateMaker::interrupt() {
  if (candidate_.base) revoke(candidate_.base.get());
  if (candidate_.store) revoke(candidate_.store.get());
  if (candidate_.application) revoke(candidate_.application.get());
}

void EpochStateMaker::adopt(const recovery::Position& position, bool complete) {
  require(position.epoch == epoch_state_.epoch || position.epoch == epoch_state_.epoch.next(),
          "epochs follow each other");
  epoch_state_.everyone = std::move(candidate_.everyone);
  epoch_state_.members = position.members;
  epoch_state_.roster = position.roster;
  epoch_state_.epoch = position.epoch;
  epoch_state_.ballot.reset();
  left_.keep(std::move(epoch_state_.application));
  left_.keep(std::move(epoch_state_.store));
  left_.keep(std::move(epoch_state_.base));
  epoch_state_.application = std::move(candidate_.application);
  epoch_state_.store = std::move(candidate_.store);
  begin_ballot(candidate_.ranks_group);
  epoch_state_.base = std::move(candidate_.base);
  require_consistency(epoch_state_, complete);
  agreements_.forget_groups_before(candidate_.base_group);
}

/// From now on, the ranks of the epoch vote by the agreements of group `id`.
void EpochStateMaker::begin_ballot(agreement::GroupId id) {
  const Communicator& ranks = epoch_state_.application;
  if (!ranks) return;
  epoch_state_.ballot = std::make_unique<agreement::Ballot>(
      agreements_.over(id, ranks.get(), holders_of(epoch_state_.roster)), Rank{ranks.rank()}, ranks.size());
}

void EpochStateMaker::found() {
  agreements_.found(epoch_state_.base.get(), epoch_state_.members);
  const agreement::GroupId base_group = agreements_.number_group();
  const agreement::GroupId ranks_group = agreements_.number_group();
  epoch_state_.everyone = agreements_.over(base_group, epoch_state_.base.get(), epoch_state_.members);
  begin_ballot(ranks_group);
}

}  // namespace mend
