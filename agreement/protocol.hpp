#pragma once

#include <cstdint>
#include <string_view>

namespace mend::agreement {

/// The agreement protocols that mend implements, by name.
enum class Protocol : std::uint8_t {
  era,                 ///< "era": early returning agreement
  log2phases,          ///< "log2phases": two-phase commit along a tree
  validate_all,        ///< "validate-all": three-phase, uniform
  validate_all_loose,  ///< "validate-all-loose": two-phase, agreement among the living only
};

/// Returns the protocol of this name. Throws UsageError if there is none. Local.
Protocol parse_protocol(std::string_view name);
/// Returns the name as parse_protocol takes it. Local.
std::string_view name_of(Protocol protocol);

}  // namespace mend::agreement
