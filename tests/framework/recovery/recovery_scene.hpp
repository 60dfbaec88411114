// The modelled job, and the faults that may happen in it.

#pragma once

#include "framework/recovery/core/recovery_core_impl.hpp"

#include <cstdint>

namespace mend::recovery {

inline constexpr std::size_t most = 10;  ///< processes
using Mask = std::uint16_t;              ///< a set of processes

struct Scene {
  int ranks = 3;
  int spares = 1;
  int newcomers = 0;  ///< processes that can be started
  Policy policy = {};
  bool disk = false;
  int spawn_tries = 10;
  int deaths = 1;
  Mask mortal = 0xffff;         ///< the processes that may die
  int errors = 0;               ///< number of processes of which a call may fail that succeeds elsewhere
  bool from_the_start = false;  ///< also explores the making of the communicators of the first epoch
  bool faulty = false;          ///< replacements of a dead process would die as well, which one process knows
};

using CommId = std::uint8_t;
inline constexpr CommId none = 0xff;

}  // namespace mend::recovery
