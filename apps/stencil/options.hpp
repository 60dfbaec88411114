#pragma once

#include "apps/common/command_line.hpp"
#include "apps/stencil/problem.hpp"

#include <optional>

namespace stencil {

struct Options {
  Problem problem;
  apps::CommonOptions common;
};

/// Reads the command line into `options`. Returns the same as apps::parse_command_line.
std::optional<int> read_options(Options& options, int argc, char** argv);

}  // namespace stencil
