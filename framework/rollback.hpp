#pragma once

#include <cstdint>

namespace mend {

/// The processes that roll back to the last commit when a process dies (--mend-rollback).
enum class Rollback : std::uint8_t {
  all,    ///< every rank
  local,  ///< only the process that takes over the rank, and its cluster (--mend-clusters); the others keep their data
};

}  // namespace mend
