// Which rules of its protocol a core follows.

#pragma once

namespace mend {

/// All of them. Tests have a type of their own instead, to leave one out and see it missed.
struct AllRules {
  static constexpr bool are_complete = true;
  template <class Rule>
  static constexpr bool keep(Rule) {
    return true;
  }
};

}  // namespace mend
