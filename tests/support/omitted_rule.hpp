// Omits a rule of a protocol, to show that it is needed.

#pragma once

#include <optional>

namespace support {

/// The rules of a core in tests: all except the one that an Omission names.
template <class Rule>
struct RulesButOne {
  static constexpr bool are_complete = false;
  static bool keep(Rule rule) { return rule != omitted; }
  static inline std::optional<Rule> omitted;
};

/// While it lives, all cores with RulesButOne omit the rule, if one is given.
template <class Rule>
class Omission {
 public:
  explicit Omission(std::optional<Rule> rule) { RulesButOne<Rule>::omitted = rule; }
  ~Omission() { RulesButOne<Rule>::omitted.reset(); }
  Omission(const Omission&) = delete;
  Omission& operator=(const Omission&) = delete;
};

}  // namespace support
