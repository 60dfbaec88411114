#include "framework/reporting/job_reporter.hpp"

#include "base/name_runs.hpp"
#include "base/telemetry/log.hpp"
#include "framework/reporting/unfilled_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace mend {
namespace {

constexpr int tries_of_faulty_ranks = 2;  // the default of --mend-tries for faulty ranks

std::string describe_circles(int recoveries) {
  return fmt::format(
      "{} in a row with at most one commit in between, and nobody had died in any: the program asks for them itself "
      "(by repair(), by revoking its communicator, or by a process failure that it throws); if that is wrong, allow "
      "for more (--mend-tries N)",
      counted(static_cast<std::size_t>(recoveries), "recovery", "recoveries"));
}

}  // namespace

JobReporter::JobReporter(const Options& options, const RecoveryCore& core, RuntimeWitness& witness)
    : first_spares_(options.spares),
      policy_(core.policy()),
      deaths_(witness, policy_, options.tries.value_or(tries_of_faulty_ranks), options.spares),
      announcer_(core.self(), witness, options.spares > 0),
      result_{options.result},
      rolls_back_locally_(options.rollback == Rollback::local) {}

void JobReporter::join_job(const JobRecord& record) {
  first_ranks_ = record.first_size;
  history_.inherit(record.recoveries);
  history_.clock().leave_body();
}

void JobReporter::begin_epoch(const EpochState& epoch_state, const StoreStatistics& store) {
  history_.begin_epoch(store);
  has_written_result_ = false;
  deaths_.begin_epoch();
  announcer_.enter(epoch_state.roster, epoch_state.members);
}

void JobReporter::end_start(const RecoveryCore& core) {
  const recovery::Position& now = core.position();
  announcer_.tell_of_start(core.course().dead, {now.roster.size(), static_cast<int>(now.processes) - first_spares_});
}

void JobReporter::end_recovery(const RecoveryCore& core, const EpochState& epoch_state, Request request) {
  const recovery::Course& course = core.course();
  RecoveryReport report;
  report.epoch = epoch_state.epoch;
  report.dead = course.dead.members();
  const auto numbered = [&](Rank rank) { return policy_.blank ? course.before.seat(rank).origin : rank; };
  for (const auto& [rank, dead, newcomer] : replacements(course.before, epoch_state.roster))
    report.replacements.push_back({numbered(rank), dead, newcomer});
  for (const auto& [rank, dead] : course.given_up) report.given_up.push_back({numbered(rank), dead});
  report.rounds = course.rounds;
  history_.clock().stamp(report, deaths_.first_of(course.dead, course.before));
  history_.clock().trace(report);
  const auto without_commit = before(course);
  std::ranges::transform(request.ranks, request.ranks.begin(), numbered);
  std::ranges::sort(request.ranks);
  announcer_.tell(report, {without_commit.begin(), without_commit.end()}, request);
  history_.add(std::move(report));
}

void JobReporter::note(RollbackReport report) {
  for (const RecoveryReport& recovery : history_.last(1)) {
    if (recovery.epoch != report.epoch) continue;
    for (const Replacement& replacement : recovery.replacements) report.back.push_back(replacement.rank);
  }
  std::ranges::sort(report.back);
  report.back.erase(std::ranges::unique(report.back).begin(), report.back.end());
  rollbacks_.push_back(std::move(report));
}

void JobReporter::end_of_body(const EpochState& epoch_state, const StoreStatistics& store, Version version,
                              Seconds run_time) {
  const MPI_Comm comm = epoch_state.store.get();
  of_all_ranks_ = over_all_ranks(recoveries(store), comm);
  if (result_.path.empty()) return;
  std::vector<Epoch> epochs;
  if (rolls_back_locally_) std::ranges::transform(of_all_ranks_, std::back_inserter(epochs), &RecoveryReport::epoch);
  write_result(result_.path,
               {first_spares_, run_time, version, store, of_all_ranks_, over_all_ranks(rollbacks_, epochs, comm)},
               result_.answer, comm);
  has_written_result_ = true;
}

void JobReporter::end_in_failure(const FailedEnd& end, const StoreStatistics& store, Version version,
                                 Seconds run_time) {
  if (result_.path.empty() || has_written_result_) return;
  const auto own = recoveries(store);
  try {
    write_result_of_failure(result_.path,
                            {first_spares_, run_time, version, store, {own.begin(), own.end()}, rollbacks_},
                            result_.answer, first_ranks_, end);
  } catch (const EnvironmentError& error) {
    log::warn(error.what());
  }
}

std::span<const RecoveryReport> JobReporter::recoveries(const StoreStatistics& store) {
  history_.close_restore_time(store);
  return history_.recoveries();
}

std::string JobReporter::describe_end(recovery::Ending why, const RecoveryCore& core, const Roster& now) const {
  const recovery::Course& course = core.course();
  switch (why) {
    case recovery::Ending::no_shrink: return "the MPI library could not shrink a communicator";
    case recovery::Ending::no_split: return "the MPI library could not split a communicator, though nobody died";
    case recovery::Ending::program_fails:
      if (!core.out_of_tries()) return describe_circles(core.row().length);
      return fmt::format("{} in a row failed, and nobody died in the last one: the program itself fails",
                         counted(static_cast<std::size_t>(course.without_commit), "recovery", "recoveries"));
    case recovery::Ending::rank_fails: return describe_fault(deaths_.to_blame());
    default: break;
  }
  // Two deaths with a commit in between may be chance.
  constexpr int shortest_row = 3;
  const bool has_commits = core.row().length >= std::max(shortest_row, course.without_commit + 1);
  const int before_this = has_commits ? core.row().length - 1 : course.without_commit - 1;
  const bool starts_no_more = policy_.spawn && (core.out_of_tries() || core.goes_in_circles());
  return deaths_.describe(history_.recoveries(), history_.last(before_this), course.before, now, course.dead,
                          starts_no_more ? std::optional(before_this) : std::nullopt,
                          has_commits ? Between::one_commit : Between::no_commit);
}

std::string JobReporter::advise_on_loss(const recovery::Course& course, bool has_disk) const {
  return deaths_.advise(history_.last(course.without_commit), first_ranks_, has_disk);
}

}  // namespace mend
