#include "framework/recovery/world.hpp"

#include "agreement/mpix_agreement.hpp"
#include "base/assert.hpp"
#include "base/fault_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

namespace mend {
namespace {

/// The communicators of the living, while it is not yet certain that everyone got them.
struct Candidate {
  /// Whether `process` is known to have no part in it.
  bool left_behind(ProcessId process) const {
    return !members.empty() && std::find(members.begin(), members.end(), process) == members.end();
  }

  Communicator base;
  std::vector<ProcessId> members;
  Communicator application;
  Communicator store;
  Plan plan;
};

ProcessSet missing_from(const std::vector<ProcessId>& now, const std::vector<ProcessId>& before) {
  return difference(ProcessSet::of(before), ProcessSet::of(now));
}

MPI_Comm split(MPI_Comm base, std::optional<Rank> rank) {
  MPI_Comm made = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(base, rank ? 0 : MPI_UNDEFINED, rank ? rank->value : 0, &made), "MPI_Comm_split");
  if (made != MPI_COMM_NULL) throw_errors_of(made);
  return made;
}

/// Given the living, who plays what: asked once a round, when the candidate base exists.
using Planner = std::function<Plan(const std::vector<ProcessId>& members)>;

/// How the making of an epoch's communicators went for one process. The bitwise and of all is how it went.
enum class Making : std::uint32_t { done = 0b11, interrupted = 0b10, broken = 0b00 };

/// Makes `candidate`'s communicators out of its base.
void make_communicators(Candidate& candidate, const Planner& planner) {
  reach("recovery.plan");
  candidate.plan = planner(candidate.members);
  if (!candidate.plan.complete()) return;
  const ProcessId self = candidate.members[static_cast<std::size_t>(candidate.base.rank())];
  const std::optional<Rank> rank = candidate.plan.roster.rank_of(self);
  reach("recovery.split");
  candidate.application = Communicator(split(candidate.base.get(), rank));
  reach("recovery.split_store");
  candidate.store = Communicator(split(candidate.base.get(), rank));
}

Making cast_and_split(Candidate& candidate, const Planner& planner) {
  try {
    make_communicators(candidate, planner);
    return Making::done;
  } catch (const ProcessFailure&) {
    return Making::interrupted;
  } catch (const EnvironmentError&) {
    return Making::broken;
  }
}

/// Who is in the application's communicator, by rank.
std::vector<ProcessId> holders_of(const Roster& roster) {
  std::vector<ProcessId> holders;
  for (const Seat& seat : roster.seats) holders.push_back(seat.holder.process);
  return holders;
}

/// What all take for granted from here on, and each can check for itself.
void require_consistency(const Candidate& candidate) {
  const std::vector<ProcessId>& members = candidate.members;
  require(static_cast<std::size_t>(candidate.base.size()) == members.size(), "all members are in the base");
  require(std::ranges::is_sorted(members), "the members of the base are in ascending order");
  if (!candidate.plan.complete()) return;
  const Roster& roster = candidate.plan.roster;
  require(roster.absent(members).empty(), "everyone in the roster lives");
  require(ProcessSet::of(holders_of(roster)).size() == roster.seats.size(), "no process holds two ranks");
  const auto rank = roster.rank_of(members[static_cast<std::size_t>(candidate.base.rank())]);
  require(rank.has_value() == static_cast<bool>(candidate.application), "the ranks have a communicator, spares none");
  if (!rank) return;
  require(candidate.application.rank() == rank->value && candidate.store.rank() == rank->value,
          "a process has the rank that the roster gives it");
  require(candidate.application.size() == roster.size() && candidate.store.size() == roster.size(),
          "all ranks are in the application's communicator");
}

RebuildOutcome rebuild_from(MPI_Comm base, agreement::Agreement& everyone, const std::vector<ProcessId>& members,
                            const Planner& planner, World& world, AgreementProvider& agreements,
                            const DeathInRebuild& death) {
  RebuildOutcome outcome;
  std::size_t failed_shrinks = 0;
  for (;;) {
    ++outcome.rounds;
    Candidate candidate;
    const agreement::GroupId base_group = agreements.number_group();
    const agreement::GroupId ranks_group = agreements.number_group();
    // Whoever has returned from one of the agreements below goes on to a call in which it waits for all others. Should
    // a death keep another in the agreement, that call is interrupted, so that nobody waits for long.
    const DeathWatch watch(agreements, [&](ProcessId process) {
      if (candidate.left_behind(process)) return;  // late news: this one is not waited for any more
      if (candidate.base) revoke(candidate.base.get());
      if (candidate.store) revoke(candidate.store.get());
      if (candidate.application) revoke(candidate.application.get());
      death();
    });
    reach("recovery.settle");
    agreements.settle(base);
    reach("recovery.shrink");
    MPI_Comm shrunk = MPI_COMM_NULL;
    const bool shrink_ok = MPIX_Comm_shrink(base, &shrunk) == MPI_SUCCESS;
    candidate.base = Communicator(shrunk);
    reach("recovery.shrunk");
    if ((everyone.agree(shrink_ok ? 1 : 0).value & 1) == 0) {
      // Only a death can make it fail, so more failures than members are something else.
      if (++failed_shrinks > members.size()) throw CommonError("the MPI library could not shrink a communicator");
      continue;
    }
    outcome.agreed_on_dead = WallClock::now();
    MPI_Comm_set_errhandler(shrunk, MPI_ERRORS_RETURN);
    candidate.members = members_of(shrunk, base, members);

    auto new_everyone = agreements.over(base_group, shrunk, candidate.members);
    const Making making = cast_and_split(candidate, planner);
    if (making != Making::done) revoke(shrunk);
    reach("recovery.confirm");
    const agreement::Outcome confirmed = new_everyone->agree(static_cast<std::uint32_t>(making));
    if (confirmed.somebody_died || confirmed.value == static_cast<std::uint32_t>(Making::interrupted)) continue;
    if (confirmed.value != static_cast<std::uint32_t>(Making::done)) {
      throw CommonError("the MPI library could not split a communicator, though nobody died");
    }

    require_consistency(candidate);
    outcome.dead = missing_from(candidate.members, members);
    outcome.replacements = candidate.plan.replacements;
    outcome.given_up = candidate.plan.given_up;
    outcome.vacant = candidate.plan.vacant;
    world.everyone = std::move(new_everyone);
    world.members = std::move(candidate.members);
    world.roster = std::move(candidate.plan.roster);
    world.ballot.reset();
    world.application = std::move(candidate.application);
    world.store = std::move(candidate.store);
    if (world.application) {
      world.ballot = std::make_unique<agreement::Ballot>(
          agreements.over(ranks_group, world.application.get(), holders_of(world.roster)));
    }
    world.base = std::move(candidate.base);
    agreements.forget_groups_before(base_group);
    return outcome;
  }
}

/// The first world was made with the library's agreement; from here on the provider's own serves.
void found_agreements(World& world, AgreementProvider& agreements) {
  agreements.found(world.base.get(), world.members);
  const agreement::GroupId base_group = agreements.number_group();
  const agreement::GroupId ranks_group = agreements.number_group();
  world.everyone = agreements.over(base_group, world.base.get(), world.members);
  if (world.application) {
    world.ballot = std::make_unique<agreement::Ballot>(
        agreements.over(ranks_group, world.application.get(), holders_of(world.roster)));
  }
}

}  // namespace

World first_world(int spares, AgreementProvider& agreements, const FailureDetector& detector) {
  const std::vector<ProcessId> members = launched_processes();
  const int size = static_cast<int>(members.size());
  if (spares < 0 || spares >= size) {
    throw UsageError(
        fmt::format("{} spares of {} processes leave nobody to work: launch more processes or ask for fewer "
                    "spares",
                    spares, size));
  }
  // A process may have died before this: the ranks keep their number, and the spares have one less.
  const int ranks = size - spares;
  World world;
  world.processes = static_cast<std::uint32_t>(size);
  agreement::MpixAgreement everyone(MPI_COMM_WORLD);
  const RebuildOutcome outcome = rebuild_from(
      MPI_COMM_WORLD, everyone, members,
      [&](const std::vector<ProcessId>& living) { return first_plan(detector.place(living), ranks); }, world,
      agreements, [] {});
  if (!outcome.vacant.empty()) {
    throw Unrecoverable(fmt::format("{} of {} processes died while the job was starting, and it has only {} spares",
                                    outcome.dead.size(), size, spares));
  }
  found_agreements(world, agreements);
  return world;
}

RebuildOutcome rebuild(World& world, const Policy& policy, AgreementProvider& agreements, const DeathInRebuild& death) {
  // The old base must outlive the new one's making.
  const Communicator old_base = std::move(world.base);
  const std::unique_ptr<agreement::Agreement> old_everyone = std::move(world.everyone);
  const std::vector<ProcessId> old_members = world.members;
  const Roster old_roster = world.roster;
  const RebuildOutcome outcome = rebuild_from(
      old_base.get(), *old_everyone, old_members,
      [&](const std::vector<ProcessId>& living) { return plan(old_roster, old_roster.absent(living), policy); }, world,
      agreements, death);
  if (outcome.vacant.empty()) world.epoch = world.epoch.next();
  return outcome;
}

}  // namespace mend
