// The times in the tests of the ring and of the detector.

#pragma once

#include "detector/message.hpp"

#include <chrono>

namespace mend::detector {

/// A heartbeat every 100 ms; whoever is silent for 1 s is suspected.
inline constexpr Timing timing{std::chrono::milliseconds(100), std::chrono::seconds(1)};

/// When the first epoch begins.
inline constexpr Time start = std::chrono::seconds(10);

}  // namespace mend::detector
