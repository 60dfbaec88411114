// A mini-app in the fault matrix: runs it with kills, and judges the files that its ranks left.

#pragma once

#include "tests/support/job.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace faults {

inline constexpr int ranks = 4;
/// The last processes launched are the spares, if there is one node.
inline constexpr int spares = 2;

struct App {
  std::string name;
  std::string program;
  std::vector<std::string> arguments;  ///< a small problem of 10 steps that commits every second step
};
const App& stencil();
const App& minife();
/// The stencil, started without spares, with `on_failure` as its policy and two copies of its data.
App stencil_that(const std::string& on_failure);

/// The results of a run.
struct Remains {
  support::JobEnd end;
  std::vector<nlohmann::json> kills;     ///< the kill record: one entry for each process that killed itself
  std::vector<nlohmann::json> evidence;  ///< by rank; null if a rank left none
};

/// Runs `app` with `--kill` for each of `kills`, or with --hang if it is written as "hang 2@5".
Remains run(const App& app, const std::vector<std::string>& kills, int with_spares = spares,
            const std::vector<std::string>& launcher_options = {});

/// Fails the current test unless every order in `kills` was carried out by the right process at the right place, and no
/// other process died.
void expect_all_died(const Remains& remains, const std::vector<std::string>& kills);

/// Fails the current test unless the job ended successfully and every rank has the result of the undisturbed run, to
/// the last bit.
void expect_undisturbed_result(const App& app, const Remains& remains);

/// Fails the current test unless the job ended with exit code 3 and one sentence that contains `words`.
void expect_clear_end(const Remains& remains, const std::string& words);

/// The command line with which a person can repeat a run.
std::string command_line(const App& app, const std::vector<std::string>& kills);

}  // namespace faults
