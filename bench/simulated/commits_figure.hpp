// mend simulate rollback --figure commits: what it costs if clusters commit together, and if they commit at different
// times, on a full network and on one that is too slow for all ranks at once.

#pragma once

#include "bench/command_line.hpp"

#include <cstdint>
#include <vector>

namespace mend::bench {

struct CommitsFigure {
  std::uint32_t ranks = 4096;
  std::vector<std::uint32_t> clusters{4, 16, 64};  ///< table rows
  std::uint32_t steps = 100;                       ///< from a commit of a rank to its next one
  std::uint32_t exchange_every = 10;               ///< steps, in the rows of a loosely coupled job
  double network_share = 0.25;                     ///< of the ranks, above 0, at most 1
};

/// Adds the options of the figure, and returns them. Each needs `figure`.
std::vector<Option> add_options_of_commits(CommandLine& app, Option figure, CommitsFigure& given);

/// Throws UsageError if one of these options was given, for use with other figures.
void refuse_options_of_commits(const std::vector<Option>& options);

/// Prints the table. Throws UsageError if the numbers do not fit together.
void print_commits(const CommitsFigure& given);

}  // namespace mend::bench
