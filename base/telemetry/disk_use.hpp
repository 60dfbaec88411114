// The state of a process's checkpoints on disk, for `mend status` and `mend commit`.

#pragma once

#include <cstdint>

namespace mend {

/// The numbers are bytes on the wire.
enum class DiskUse : std::uint8_t {
  none,      ///< without --mend-disk
  writes,    ///< versions go to disk
  given_up,  ///< versions went to disk until writing failed
};
inline constexpr DiskUse last_disk_use = DiskUse::given_up;

}  // namespace mend
