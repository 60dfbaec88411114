// Finds data that a commit need not read, because it is known to be unchanged.
//
// The kernel watches members of which the last commit found little changed (store/snapshot/dirty_pages.hpp). At each
// commit the watches report what was written since the previous one. A snapshot is packed over one that is some commits
// older, so the reports of these commits are combined. A member of which much is written is not watched any more,
// because the page faults would cost more than reading. A member that has moved is not watched any more either. Each
// time that much is written to a watched member, the number of commits that must find little changed before it is
// watched again doubles.

#pragma once

#include "base/ids.hpp"
#include "store/snapshot/snapshot.hpp"
#include "store/snapshot/dirty_pages.hpp"
#include "store/snapshot/unseen_writers.hpp"
#include "store/store_options.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mend {

/// For the members of one group on this rank. All functions are local.
class ChangeFinder {
 public:
  /// `unseen_writers`: returns true if FindChanges::automatic must not use watches now.
  ChangeFinder(
      FindChanges how, int versions, std::function<bool()> unseen_writers = [] { return has_unseen_writers(); })
      : how_(how), versions_(static_cast<std::uint64_t>(versions)), unseen_writers_(std::move(unseen_writers)) {}

  /// Reads the watches. Call it before members are packed as `version`.
  void look(const Members& members, Version version);
  /// Returns the known changes of members since they were packed as `older`.
  WrittenSince since(Version older) const;
  /// Chooses from the changes that packing found the members to watch from the next commit on.
  void learn(const Members& members, const Changes& changes);

  /// Ends the watch of a member that is not in the group any more.
  void forget(std::string_view name);
  /// Forgets all watches, because version numbers are reused or members have moved.
  void begin_anew() { watched_.clear(); }

 private:
  struct Look {
    Version version;
    std::vector<ByteRange> written;
  };
  struct Watched {
    Version begun{};                    // Version{0}: the next look begins it
    std::unique_ptr<DirtyPages> watch;  // null if the kernel cannot watch the member
    std::deque<Look> looks;             // of the last few commits
  };

  /// A member that is not watched: how often commits found little changed in it.
  struct Candidate {
    unsigned in_a_row = 0;
    unsigned needed = 1;
  };

  enum class Verdict : std::uint8_t { goes_on, has_moved, changes_much };
  Verdict look(Watched& watched, const Member& member, Version version) const;
  bool may_watch() const { return DirtyPages::is_possible() && (how_ != FindChanges::automatic || !unseen_writers_()); }

  FindChanges how_;
  std::uint64_t versions_;
  std::function<bool()> unseen_writers_;
  std::map<std::string, Candidate, std::less<>> candidates_;
  std::map<std::string, Watched, std::less<>> watched_;
};

}  // namespace mend
