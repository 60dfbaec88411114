#include "framework/recovery/recovery_core_setup.hpp"

#include "base/error.hpp"
#include "framework/process/mpi_runtime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace mend {
namespace {

constexpr int tries_with_processes = 10;  // the default of --mend-tries for starting processes

ProcessId own_number() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return launched_processes()[static_cast<std::size_t>(rank)];
}

recovery::Setup setup_of(const Options& options, ProcessId self, std::vector<NodeId> places) {
  return {self,
          options.on_failure,
          options.tries.value_or(tries_with_processes),
          options.disk.has_value(),
          std::move(places),
          options.spare_nodes,
          options.last_are_spares ? SparePlacement::last : SparePlacement::spread};
}

}  // namespace

RecoveryCore core_at_the_start(const Options& options, const FailureDetector& detector) {
  std::vector<ProcessId> launched = launched_processes();
  const int size = static_cast<int>(launched.size());
  const int spares = options.spares;
  if (spares < 0 || spares >= size) {
    throw UsageError(fmt::format("{} of {}: nobody is left to work; launch more processes or ask for fewer spares",
                                 spares == 1 ? "1 spare" : fmt::format("{} spares", spares),
                                 size == 1 ? "1 process" : fmt::format("{} processes", size)));
  }
  std::vector<Placed> introduced;
  for (const DetectorPeer& other : detector.known_peers()) introduced.push_back({other.process, other.peer.node});
  std::ranges::sort(introduced, {}, &Placed::process);
  return {setup_of(options, own_number(), detector.places()), std::move(launched), std::move(introduced),
          size - spares};
}

RecoveryCore core_of_newcomer(const Options& options, const EpochState& epoch_state, const JobRecord& record) {
  recovery::Course course;
  course.before = record.before;
  course.without_commit = record.without_commit;
  course.rounds = record.rounds;
  course.dead = record.dead;
  course.row = record.row;
  course.unable = record.unable;
  course.started = record.started;
  return {setup_of(options, epoch_state.members.back(), record.places),
          {epoch_state.members, epoch_state.roster, epoch_state.epoch, epoch_state.processes},
          std::move(course)};
}

}  // namespace mend
