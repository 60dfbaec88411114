// A rule that is left out of a protocol, to see it missed.

#pragma once

#include <optional>

namespace support {

/// The rules of a core in tests: all but the one that an Omission names.
template <class Rule>
struct RulesButOne {
  static constexpr bool are_complete = false;
  static bool keep(Rule rule) { return rule != omitted; }
  static inline std::optional<Rule> omitted;
};

/// Has all cores with RulesButOne leave a rule out, or none, as long as it lives.
template <class Rule>
class Omission {
 public:
  explicit Omission(std::optional<Rule> rule) { RulesButOne<Rule>::omitted = rule; }
  ~Omission() { RulesButOne<Rule>::omitted.reset(); }
  Omission(const Omission&) = delete;
  Omission& operator=(const Omission&) = delete;
};

}  // namespace support
