// The events of a job, rank by rank, from its traces: the model of the page of `mend report --html`. Pure.
//
//   rank 0   computes |commit| computes |recovery......|restore| computes ...
//   rank 1   computes |commit| comp X            |restore| computes ...         <- played by process 4 from here on
//   spare 4  waits                  |recovery....|
//
// A row shows a rank, for all processes that hold it in turn, or a process while it is a spare. So a spare that takes
// over a rank changes from its own row to that of the rank.

#pragma once

#include "framework/commits/commit_economy.hpp"
#include "jobs/report/trace_files.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mend::jobs {

/// An activity of a process for some time, or an event at one time.
enum class Kind : std::uint8_t {
  computes,
  waits,  ///< as a spare
  recovery,
  interrupt,
  agree,
  rebuild,
  restore,
  commit,
  disk,
  again,  ///< under local rollback: computes again what the process before it had computed
  // Events without a duration:
  died,
  takes_over,  ///< from here on the process holds the rank
  silent,      ///< it has found another process silent
  learns,      ///< it has learned that another process is dead
  message,
};
inline constexpr int kinds = 15;
/// The name of a kind on the page; in the order of Kind.
std::string name_of(Kind kind);

struct Row {
  std::string name;            ///< "rank 3", "spare 5"
  std::optional<int> rank;     ///< or
  std::optional<int> process;  ///< of a spare
};

/// Times are in microseconds since the beginning of the timeline.
struct Bar {
  int row = 0;
  Kind kind = Kind::computes;
  int process = 0;
  std::int64_t begin = 0;
  std::int64_t length = 0;
  std::int64_t number = -1;  ///< version of a commit or restore, epoch of a recovery, or the other process; -1 if there
                             ///< is none
};

struct Commit {
  std::int64_t version = 0;
  std::int64_t begin = 0;
  std::int64_t cost = 0;   ///< of the slowest rank, for both parts
  std::int64_t bytes = 0;  ///< the maximum over the ranks of the bytes copied and sent
};

struct Timeline {
  std::int64_t origin_us = 0;  ///< wall-clock time
  std::int64_t length = 0;
  int ranks = 0;
  int processes = 0;
  int spares = 0;  ///< at the beginning
  int deaths = 0;
  std::vector<Row> rows;                                ///< ranks, then spares
  std::vector<Bar> bars;                                ///< ordered by row, then by beginning
  std::vector<Commit> commits;                          ///< ordered by beginning
  nlohmann::json recoveries = nlohmann::json::array();  ///< in the form of a result file, with the slowest rank's
                                                        ///< phases

  /// The cost of the commits, and what the best interval would have saved.
  CommitEconomy economy() const;
};

/// Makes the timeline of a job from all its events, ordered by beginning.
Timeline timeline_of(const std::vector<TraceEvent>& events);

/// Combines all events in one file for Perfetto. Each process is named with the ranks that it has held.
nlohmann::json for_perfetto(const nlohmann::json& events);

}  // namespace mend::jobs
