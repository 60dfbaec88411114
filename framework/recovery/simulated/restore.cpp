// The restore of a simulated recovery: the store's own placement and plan, for the ranks that there are.

#include "framework/recovery/simulated/process.hpp"
#include "store/placement/combination.hpp"
#include "store/placement/placement.hpp"

#include <algorithm>

namespace mend::recovery {
namespace {

constexpr std::size_t bringing = 0;
constexpr std::size_t protecting = 1;

}  // namespace

const RecoverySimulation::RestoreParts& RecoverySimulation::restore_parts(CommId application, ProcessId asking) {
  auto& parts = restores_[application];
  if (parts) return *parts;
  parts = std::make_unique<RestoreParts>();
  const Version version{1};
  const Roster& roster = at(asking).core->position().roster;
  const int before = with_data_.size();
  const Sizes sizes(static_cast<std::size_t>(before), options_.bytes_per_rank);
  const std::vector<Stripe> stripes = place(options_.redundancy, with_data_.nodes());
  Inventory inventory;
  inventory.committed.insert(version);
  std::vector<std::uint64_t> told(roster.seats.size(), 2);  // numbers
  std::vector<std::vector<std::pair<const Stripe*, std::size_t>>> kept(static_cast<std::size_t>(before));
  for (const Stripe& stripe : stripes) {
    for (std::size_t row = 0; row < stripe.holders.size(); ++row) {
      kept[static_cast<std::size_t>(stripe.holders[row].value)].emplace_back(&stripe, row);
    }
  }
  for (int r = 0; r < roster.size(); ++r) {
    const auto then = with_data_.rank_of(roster.seat(Rank{r}).holder.process);
    if (!then) continue;
    const auto hold = [&](const Block& block, ByteCount length) {
      inventory.holdings.push_back({Rank{r}, version, block, length, sizes_of(block, sizes)});
      told[static_cast<std::size_t>(r)] += 4 + 2 * block.owners.size();
    };
    hold(Block::snapshot_of(*then), options_.bytes_per_rank);
    for (const auto& [stripe, row] : kept[static_cast<std::size_t>(then->value)]) {
      hold(kept_block(*stripe, row), kept_bytes(*stripe, sizes));
    }
  }
  parts->inventory = std::ranges::max(told) * sizeof(std::uint64_t);
  parts->plan = roster.size() == before ? plan_restore(inventory, place(options_.redundancy, roster.nodes()), before)
                                        : plan_gathering(inventory, before, roster.size()).restore;
  parts->sends.resize(roster.seats.size());
  parts->expects.resize(roster.seats.size());
  const auto add = [&](std::size_t part, const std::vector<Combination>& steps) {
    for (const Combination& step : steps) {
      for (const Source& source : step.sources) {
        if (source.from == step.to) continue;
        parts->sends[static_cast<std::size_t>(source.from.value)][part].push_back({step.to, source.length});
        if (part == bringing || !step.is_copy()) ++parts->expects[static_cast<std::size_t>(step.to.value)][part];
      }
    }
  };
  add(bringing, parts->plan.bring);
  add(protecting, parts->plan.protect);  // no rank waits for copies
  if (!parts->plan.version) lost_ = parts->plan.missing;
  return *parts;
}

void RecoverySimulation::begin_restore(ProcessId process) {
  Process& one = at(process);
  const RestoreParts& parts = restore_parts(one.application, process);
  one.restoring = true;
  one.wait = Process::Wait::call;
  one.call = Call::restore;
  one.on = one.application;
  one.steps = steps_of(Call::restore, comms_[one.on].members.size());
  for (LibraryStep& step : one.steps) {
    if (step.kind == LibraryStep::Kind::allgather) step.bytes = parts.inventory;
  }
  one.step = 0;
  begin_step(process);
}

/// Continues the restore. `round` counts the parts whose messages have been sent.
void RecoverySimulation::restore_goes_on(ProcessId process) {
  Process& one = at(process);
  const RestoreParts& parts = restore_parts(one.application, process);
  if (!parts.plan.version) {  // all ranks find that out alike
    one.restoring = false;
    one.wait = Process::Wait::nothing;
    return drive(process, BodyLeft{agreement::Proposal::abandon, ExitCode::unrecoverable, false});
  }
  const Comm& comm = comms_[one.on];
  const std::size_t own = comm.rank(process);
  for (;;) {
    if (one.round > 0 && one.brought[{one.on, one.round - 1}] < parts.expects[own][one.round - 1]) return;
    if (one.round == RestoreParts::count) break;
    const std::size_t part = one.round++;
    for (const RestoreParts::Transfer& transfer : parts.sends[own][part]) {
      const ProcessId to = comm.members[static_cast<std::size_t>(transfer.to.value)];
      const Note note{Note::Kind::restore, one.on, static_cast<std::uint32_t>(part), 0, 0};
      const bool is_near =
          process.value / options_.network.processes_per_node == to.value / options_.network.processes_per_node;
      const auto& link = is_near ? options_.network.within_node : options_.network.between_nodes;
      one.sends_until = std::max(one.sends_until, now(process)) +
                        SimulatedTime{static_cast<std::int64_t>(link.per_byte * static_cast<double>(transfer.bytes))};
      one.bytes[static_cast<std::size_t>(one.phase)] += transfer.bytes;
      one.later.push_back({one.sends_until, std::pair(to, note)});
      simulator_->wake(process, one.sends_until);
    }
  }
  ++one.step;
  begin_step(process);
}

/// Sends the messages that are due by now, and completes the copying that is due.
void RecoverySimulation::carry_out_later(ProcessId process) {
  Process& one = at(process);
  const auto due =
      std::ranges::stable_partition(one.later, [&](const Process::Later& later) { return later.at > now(process); });
  const std::vector<Process::Later> now_due(due.begin(), due.end());
  one.later.erase(due.begin(), due.end());
  for (const Process::Later& later : now_due) {
    if (later.transfer) {
      send(process, later.transfer->first, later.transfer->second);
    } else if (one.wait == Process::Wait::call && one.call == Call::restore &&
               one.steps[one.step].kind == LibraryStep::Kind::local) {
      ++one.step;
      begin_step(process);
    }
  }
}

void RecoverySimulation::restore_ends(ProcessId process, agreement::BallotResult result) {
  Process& one = at(process);
  one.restoring = false;
  one.later.clear();
  if (result != agreement::BallotResult::accepted) {
    return drive(process, BodyLeft{agreement::Proposal::recover, ExitCode::ok, false});
  }
  with_data_ = one.core->position().roster;  // all have restored; copies are taken to have come before the next death
  one.wait = Process::Wait::body;
  enter_phase(process, Phase::over);
  // A death that became known during the vote did not change it. The next call of MPI fails.
  const std::vector<ProcessId> dead = one.detector->known_dead().members();
  const auto concerns = [&](ProcessId gone) { return comms_[one.application].has(gone); };
  if (one.revoked.contains(one.application) || std::ranges::any_of(dead, concerns)) leave_body(process);
}

}  // namespace mend::recovery
