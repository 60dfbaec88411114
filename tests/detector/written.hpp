// What control threads send, as bytes.

#pragma once

#include <cstddef>
#include <vector>

namespace mend::detector {

/// Returns a message of any type as it is sent.
template <class AnyMessage>
std::vector<std::byte> written(const AnyMessage& message) {
  std::vector<std::byte> bytes;
  write(message, bytes);
  return bytes;
}

}  // namespace mend::detector
