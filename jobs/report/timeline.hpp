// What happened in a job, rank by rank, as its traces tell it: the model behind the page of `mend report --html`. Pure.
//
//   rank 0   computes |commit| computes |recovery......|restore| computes ...
//   rank 1   computes |commit| comp X            |restore| computes ...         <- played by process 4 from here on
//   spare 4  waits                  |recovery....|
//
// A row is what a reader follows: a rank, whichever process plays it, or a process while it is a spare. So a spare that
// takes a rank leaves its own row for that of the rank.

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

/// What a process does for a time, or what happens to it at a moment.
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
  // Moments:
  died,
  takes_over,  ///< from here on the process plays the rank
  silent,      ///< it has found another silent
  learns,      ///< it knows another dead
  message,
};
inline constexpr int kinds = 14;
/// In the order of Kind, as the page names them.
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
  std::int64_t number = -1;  ///< version of a commit or restore, epoch of a recovery, the other process; or none
};

struct Commit {
  std::int64_t version = 0;
  std::int64_t begin = 0;
  std::int64_t cost = 0;   ///< of the slowest rank, all its parts together
  std::int64_t bytes = 0;  ///< copied and sent by the rank for which that was most
};

struct Timeline {
  std::int64_t origin_us = 0;  ///< wall clock
  std::int64_t length = 0;
  int ranks = 0;
  int processes = 0;
  int spares = 0;  ///< at the beginning
  int deaths = 0;
  std::vector<Row> rows;                                ///< ranks, then spares
  std::vector<Bar> bars;                                ///< by row, and by beginning
  std::vector<Commit> commits;                          ///< in the order of their beginnings
  nlohmann::json recoveries = nlohmann::json::array();  ///< as a result file has them, with the slowest rank's phases

  /// What commits have cost, and what the best interval would have saved.
  CommitEconomy economy() const;
};

/// The timeline of a job from all its events, in the order of their beginnings.
Timeline timeline_of(const std::vector<TraceEvent>& events);

/// The same in one file for Perfetto: all events, each process named with the ranks that it has had.
nlohmann::json for_perfetto(const nlohmann::json& events);

}  // namespace mend::jobs
