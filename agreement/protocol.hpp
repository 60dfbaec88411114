#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace mend::agreement {

/// The agreement protocols that mend implements, by name.
enum class Protocol : std::uint8_t {
  era,                 ///< "era": early returning agreement
  log2phases,          ///< "log2phases": two-phase commit along a tree
  validate_all,        ///< "validate-all": three-phase, uniform
  validate_all_loose,  ///< "validate-all-loose": two-phase, agreement among the living only
};

inline constexpr std::array<std::pair<std::string_view, Protocol>, 4> protocols{{
    {"era", Protocol::era},
    {"log2phases", Protocol::log2phases},
    {"validate-all", Protocol::validate_all},
    {"validate-all-loose", Protocol::validate_all_loose},
}};

/// Returns the protocol of this name. Throws UsageError if there is none. Local.
Protocol parse_protocol(std::string_view name);
/// Returns the name as parse_protocol takes it. Local.
constexpr std::string_view name_of(Protocol protocol) {
  for (const auto& [name, known] : protocols) {
    if (protocol == known) return name;
  }
  return "?";
}

}  // namespace mend::agreement
