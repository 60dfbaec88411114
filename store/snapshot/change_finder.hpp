// What a commit need not read, because it is known not to have changed.
//
// Members of which the last commit found little changed are watched by the kernel (store/snapshot/dirty_pages.hpp). At
// each commit the watches say what was written since the one before. A snapshot is packed over one that is some commits
// older, so what all those commits have been told is put together. A member of which much is written is not watched any
// more, because then the page faults cost more than reading does; nor is one that has moved.

#pragma once

#include "base/ids.hpp"
#include "store/snapshot/snapshot.hpp"
#include "store/snapshot/dirty_pages.hpp"
#include "store/store_options.hpp"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mend {

/// For the members of one group on this rank. Local, all of it.
class ChangeFinder {
 public:
  ChangeFinder(FindChanges how, int versions) : how_(how), versions_(static_cast<std::uint64_t>(versions)) {}

  /// Before members are packed as `version`: looks what was written.
  void look(const Members& members, Version version);
  /// What is known of the members' changes since they were packed as `older`.
  WrittenSince since(Version older) const;
  /// After that: what has changed says what is to be watched from the next commit on.
  void learn(const Members& members, const Changes& changes);

  /// Versions begin to count anew, or members lie elsewhere.
  void begin_anew() { watched_.clear(); }

 private:
  struct Look {
    Version version;
    std::vector<ByteRange> written;
  };
  struct Watched {
    Version begun{};                    // Version{0}: the next look begins
    std::unique_ptr<DirtyPages> watch;  // none when that was not possible
    std::deque<Look> looks;             // at the last few commits
  };

  bool look(Watched& watched, const Member& member, Version version) const;

  FindChanges how_;
  std::uint64_t versions_;
  std::map<std::string, Watched, std::less<>> watched_;
};

}  // namespace mend
