#include "fenix/process/start_options.hpp"

#include "base/error.hpp"
#include "base/launch.hpp"
#include "base/telemetry/log.hpp"
#include "fenix/process/settings.hpp"
#include "transport/mpi.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

namespace mend::fenix {
namespace {

std::optional<std::string> info_value(MPI_Info info, const char* key) {
  if (info == MPI_INFO_NULL) return std::nullopt;
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int length = sizeof value;
  int found = 0;
  MPI_Info_get_string(info, key, &length, value, &found);
  return found != 0 ? std::optional<std::string>(value) : std::nullopt;
}

/// Warns of an unknown value. Fenix uses the default for unknown values without a message; mend uses it too, but prints
/// a warning.
void warn_of_value(const char* key, const std::string& value, const char* known) {
  if (launch::speaks_for_all()) log::warn(fmt::format("Fenix_Init: '{}' is no {}, which is {}", value, key, known));
}

void read_info(MPI_Info info) {
  if (const auto mode = info_value(info, "FENIX_RESUME_MODE")) {
    if (*mode == "NO_JUMP" || *mode == "RETURN") {
      settings().resume = FENIX_RESUME_RETURN;
    } else if (*mode == "THROW") {
      settings().resume = FENIX_RESUME_THROW;
    } else {
      settings().resume = FENIX_RESUME_JUMP;
      const bool known = *mode == "Fenix_init" || *mode == "JUMP";
      if (!known) warn_of_value("FENIX_RESUME_MODE", *mode, "Fenix_init, NO_JUMP or THROW");
    }
  }
  if (const auto mode = info_value(info, "FENIX_UNHANDLED_MODE")) {
    if (*mode == "SILENT") {
      settings().unhandled = FENIX_UNHANDLED_SILENT;
    } else if (*mode == "PRINT" || *mode == "NO_JUMP") {
      settings().unhandled = FENIX_UNHANDLED_PRINT;
    } else {
      settings().unhandled = FENIX_UNHANDLED_ABORT;
      if (*mode != "ABORT") warn_of_value("FENIX_UNHANDLED_MODE", *mode, "SILENT, PRINT or ABORT");
    }
  }
}

bool spans_the_launch(MPI_Comm comm) {
  int result = MPI_UNEQUAL;
  return comm != MPI_COMM_NULL && MPI_Comm_compare(comm, MPI_COMM_WORLD, &result) == MPI_SUCCESS &&
         (result == MPI_IDENT || result == MPI_CONGRUENT);
}

}  // namespace

Options options_of(const StartArguments& arguments) {
  if (!is_mpi_initialised()) throw UsageError("Fenix_Init comes after MPI_Init");
  if (!spans_the_launch(arguments.comm)) {
    throw UsageError(
        "Fenix_Init needs MPI_COMM_WORLD or a duplicate of it: spares are taken from all that was launched");
  }
  read_info(arguments.info);
  char no_name[] = "";
  char* no_arguments[] = {no_name, nullptr};
  int one = 1;
  const bool has_arguments = arguments.argc != nullptr && arguments.argv != nullptr;
  Options as_in_fenix;
  const bool spawns = arguments.spawn != 0 || settings().recovery == FENIX_RECOVERY_SPAWN;
  as_in_fenix.on_failure = {.spare = true, .spawn = spawns, .shrink = true};
  Options options = has_arguments ? take_options(*arguments.argc, *arguments.argv, as_in_fenix)
                                  : take_options(one, no_arguments, as_in_fenix);
  if (options.spares != 0 && options.spares != arguments.spares && launch::speaks_for_all()) {
    log::warn(fmt::format("the job was launched with --spares {}, but Fenix_Init asks for {}, which is used",
                          options.spares, arguments.spares));
  }
  options.spares = arguments.spares;
  options.last_are_spares = true;  // programs may continue to use the ranks that they had in `comm`
  if (options.rollback == Rollback::local)
    throw UsageError("--mend-rollback local does not cover programs for Fenix: use --mend-rollback all");
  if (options.world == WorldMeans::session)
    throw UsageError(
        "--mend-world session does not cover programs for Fenix: Fenix_Init gives them a communicator without spares");
  if (launch::must_continue()) throw UsageError("--restart cannot go on: Fenix's data groups are kept in memory alone");
  if (options.disk && launch::speaks_for_all()) {
    log::warn("Fenix's data groups are kept in memory alone: --mend-disk does nothing here");
  }
  options.disk.reset();
  return options;
}

int wanted_ranks(int spares) { return static_cast<int>(launched_processes().size()) - spares; }

}  // namespace mend::fenix
