// The actions for a rank whose process has died (--mend-on-failure). If no allowed action is possible, the job ends.

#pragma once

#include <string>
#include <string_view>

namespace mend {

/// The allowed actions for a rank whose process has died, tried in this order.
struct Policy {
  bool spare = true;    ///< a waiting process takes over the rank
  bool spawn = false;   ///< one more process is started, and takes over the rank
  bool shrink = false;  ///< the rank is given up, and higher ranks move down
  bool blank = false;   ///< as shrink, but reports and messages keep the original numbers of the other ranks
  bool operator==(const Policy&) const = default;

  /// The words that parse() accepts, as a list.
  static constexpr const char* forms = "{spare,spawn,shrink,blank},...";

  /// Reads a list such as "spare,shrink". Throws UsageError for any other text.
  static Policy parse(std::string_view text);

  /// Returns true if a waiting process may take over a rank. A process that was started for a rank waits too.
  bool takes_over_ranks() const { return spare || spawn; }
  /// Returns true if the application may go on with fewer ranks.
  bool gives_up_ranks() const { return shrink || blank; }
};

/// Returns the text that Policy::parse accepts.
std::string to_string(const Policy& policy);

}  // namespace mend
