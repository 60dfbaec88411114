// A mini-app as the fault matrix sees it: run with kills, and judged by what its ranks left behind.

#pragma once

#include "tests/support/job.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace faults {

inline constexpr int ranks = 4;
/// The last processes launched are the spares, as long as there is one node.
inline constexpr int spares = 2;

struct App {
  std::string name;
  std::string program;
  std::vector<std::string> arguments;  ///< a tiny problem of 10 steps that commits every other step
};
const App& stencil();
const App& minife();
/// The stencil, started without spares, with `on_failure` as its ladder and two copies of its data.
App stencil_that(const std::string& on_failure);

/// What is left of a run.
struct Remains {
  support::JobEnd end;
  std::vector<nlohmann::json> kills;     ///< the kill record: one entry for each process that killed itself
  std::vector<nlohmann::json> evidence;  ///< by rank; null where a rank left none
};

/// Runs `app` with `--kill` for each of `kills`; for one that is written "hang 2@5", with --hang.
Remains run(const App& app, const std::vector<std::string>& kills, int with_spares = spares,
            const std::vector<std::string>& launcher_options = {});

/// Fails the current test unless every order in `kills` was obeyed, by whom and where it says, and nobody else died.
void expect_all_died(const Remains& remains, const std::vector<std::string>& kills);

/// Fails the current test unless the job ended well and every rank has the result of the undisturbed run, to the last
/// bit.
void expect_undisturbed_result(const App& app, const Remains& remains);

/// Fails the current test unless the job ended with exit code 3 and one sentence about it that has `words`.
void expect_clear_end(const Remains& remains, const std::string& words);

/// What a person needs to repeat a run: its command line.
std::string command_line(const App& app, const std::vector<std::string>& kills);

}  // namespace faults
