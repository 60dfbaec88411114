// What mend does about a rank whose process has died (--mend-on-failure). When nothing that the user allows helps, the
// job ends.

#pragma once

#include <string>
#include <string_view>

namespace mend {

/// Which of these are allowed, tried in this order.
struct Policy {
  bool spare = true;    ///< a process that waits takes the rank over
  bool spawn = false;   ///< one more process is started, and takes it over
  bool shrink = false;  ///< the rank is given up, and higher ranks move down
  bool blank = false;   ///< as shrink; reports and mend's lines go on naming the others by their original numbers
  bool operator==(const Policy&) const = default;

  /// A list such as "spare,shrink". Throws UsageError for anything else.
  static Policy parse(std::string_view text);

  /// Returns true if a waiting process may take over a rank. A process that was started for a rank waits too.
  bool takes_over_ranks() const { return spare || spawn; }
  /// Returns true if the application may go on with fewer ranks.
  bool gives_up_ranks() const { return shrink || blank; }
};

/// As Policy::parse takes it.
std::string to_string(const Policy& policy);

}  // namespace mend
