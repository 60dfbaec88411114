#include "base/telemetry/log.hpp"
#include "fenix/fenix_opt.hpp"
#include "transport/mpi.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace fenix {

void end_for_requirement(const char* predicate, const char* file, int line, const char* function) {
  end_for_requirement(predicate, file, line, function, "%s", "");
}

void end_for_requirement(const char* predicate, const char* file, int line, const char* function, const char* format,
                         ...) {
  std::array<char, 1024> reason{};
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(reason.data(), reason.size(), format, arguments);
  va_end(arguments);
  mend::log::error(fmt::format("{}:{} {}: '{}' does not hold{}{}", file, line, function, predicate,
                               reason[0] == '\0' ? "" : ": ", reason.data()));
  if (mend::is_mpi_initialised() && !mend::is_mpi_finalised()) MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

}  // namespace fenix
