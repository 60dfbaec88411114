#pragma once

#include "apps/common/command_line.hpp"
#include "apps/minife/heat.hpp"

#include <filesystem>
#include <optional>

namespace apps::minife {

struct Options {
  CommonOptions common;
  HeatSettings heat;
  bool agree = false;          ///< ask in every CG iteration whether all ranks may leave the solver
  std::filesystem::path yaml;  ///< the report; empty: none
};

/// Reads the command line into `options`, whose values are the defaults. Returns the exit code that main must return at
/// once, or nothing if the program should continue; see apps::parse_command_line.
std::optional<int> read_options(Options& options, int argc, char** argv);

}  // namespace apps::minife
