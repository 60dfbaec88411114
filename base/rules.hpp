// Selects the rules of its protocol that a core follows.

#pragma once

namespace mend {

/// Follows all rules. Tests use types of their own, which leave out a rule to show that it is needed.
struct AllRules {
  static constexpr bool are_complete = true;
  template <class Rule>
  static constexpr bool keep(Rule) {
    return true;
  }
};

}  // namespace mend
