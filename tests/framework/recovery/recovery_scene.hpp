// What job is looked at, and what may go wrong in it.

#pragma once

#include "framework/recovery/recovery_core_impl.hpp"

#include <cstdint>

namespace mend::recovery {

inline constexpr std::size_t most = 10;  ///< processes
using Mask = std::uint16_t;              ///< of them

struct Scene {
  int ranks = 3;
  int spares = 1;
  int newcomers = 0;  ///< processes that can be started
  Policy policy = {};
  bool disk = false;
  int spawn_tries = 10;
  int deaths = 1;
  Mask mortal = 0xffff;         ///< who may die of these
  int errors = 0;               ///< processes of which calls may fail that succeed elsewhere
  bool from_the_start = false;  ///< the first world too
  bool faulty = false;          ///< who dies would do so again, which one process knows
};

using CommId = std::uint8_t;
inline constexpr CommId none = 0xff;

}  // namespace mend::recovery
