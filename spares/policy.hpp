// What is done about a rank whose process has died: the rungs of a ladder, from which those are taken that the user
// allows (--mend-on-failure). When none of them helps, the job ends.

#pragma once

#include <string>
#include <string_view>

namespace mend {

struct Policy {
  bool spare = true;    ///< a process that waits takes the rank over
  bool spawn = false;   ///< one more process is started, and takes it over
  bool shrink = false;  ///< the rank is given up, those above it close up
  bool blank = false;   ///< the rank is given up, the others keep their numbers
  bool operator==(const Policy&) const = default;

  /// A list such as "spare,shrink". Throws UsageError for anything else.
  static Policy parse(std::string_view text);

  /// Whether a process that waits may take a rank over; those that are started for one wait too, until they get it.
  bool takes_over_ranks() const { return spare || spawn; }
  /// Whether the application may go on with fewer ranks.
  bool gives_up_ranks() const { return shrink || blank; }
};

}  // namespace mend
