#include "apps/stencil/options.hpp"

#include "apps/stencil/scheme.hpp"
#include "base/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace stencil {
namespace {

constexpr const char* description =
    "Heat spreading in a periodic 3-D box, by explicit finite differences on a grid cut into one block per rank.\n"
    "The run survives the death of its processes, and checks its result against the known one.";

constexpr const char* examples =
    "Examples:\n"
    "  mend run -n 4 -- stencil --size 64 --steps 100\n"
    "      four ranks, nobody dies\n"
    "  mend run -n 4 --spares 2 -- stencil --steps 60 --kill 2@20 --kill 0@40:halo --result a.json\n"
    "      rank 2 dies in step 20 and rank 0 in step 40, with messages under way; spares take over, and the\n"
    "      field_hash in a.json is the same as without\n"
    "  mend run -n 4 --spares 2 -- stencil --order 8 --commit-every 10 --plot heat.png\n"
    "      the 25-point stencil, a commit every ten steps, a picture of the end\n";

constexpr int most_cells = 1'000'000;

CLI::Validator number_of_cells() {
  return CLI::Validator(
      [](std::string& text) {
        int cells = 0;
        return CLI::detail::lexical_cast(text, cells) && cells > 0 && cells <= most_cells
                   ? std::string()
                   : fmt::format("from 1 to {} cells are wanted along an axis, not {}", most_cells, text);
      },
      "");
}

}  // namespace

std::optional<int> read_options(Options& options, int argc, char** argv) {
  CLI::App app(description, "stencil");
  app.footer(examples);
  app.get_formatter()->column_width(34);

  Problem& problem = options.problem;
  const char* const group = "Problem";
  const char* const axis_names[] = {"--nx", "--ny", "--nz"};
  for (std::size_t d = 0; d < axes; ++d) {
    app.add_option(axis_names[d], problem.cells[d], std::string("Cells along ") + axis_names[d][3])
        ->check(number_of_cells())
        ->capture_default_str()
        ->type_name("N")
        ->group(group);
  }
  app.add_option_function<int>(
         "--size",
         [&](const int& cells) {
           problem.cells = {cells, cells, cells};
         },
         "Cells along each axis")
      ->check(number_of_cells())
      ->excludes("--nx", "--ny", "--nz")
      ->type_name("N")
      ->group(group);
  app.add_option("--order", problem.order, "Order of the space derivative: 2 (7 points) or 8 (25 points)")
      ->capture_default_str()
      ->type_name("2|8")
      ->group(group);
  app.add_option("--courant", problem.courant, "Time step as a fraction of the largest stable one")
      ->capture_default_str()
      ->type_name("0..1")
      ->group(group);
  apps::add_common_options(app, options.common);

  return apps::parse_command_line(app, argc, argv, [&] {
    central_second_derivative(problem.order);
    apps::check_kills(options.common, {"halo"}, std::max(0, options.common.steps - 1));
    apps::check_plot(options.common, std::int64_t{problem.cells[0]} * problem.cells[1]);
    if (!(problem.courant > 0 && problem.courant <= 1)) {
      throw mend::UsageError(fmt::format("--courant must be above 0 and at most 1, not {}", problem.courant));
    }
  });
}

}  // namespace stencil
