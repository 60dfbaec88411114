#pragma once

#include <cstdint>

namespace mend {

/// Who goes back to the last commit when a process has died (--mend-rollback).
enum class Rollback : std::uint8_t {
  all,    ///< every rank
  local,  ///< only the process that takes over the rank; the others go on with what they have
};

}  // namespace mend
