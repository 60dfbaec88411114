// Jobs of programs for Fenix.

#pragma once

#include "tests/support/subject_job.hpp"

#include <string>
#include <vector>

/// How many ranks every job has, beside its spares.
inline constexpr int ranks = 4;

/// Runs `program` with these arguments under mend run.
inline support::JobEnd play_fenix(const char* program, int spares, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program);
  return support::run_job(support::mend_run(ranks, spares, arguments));
}
