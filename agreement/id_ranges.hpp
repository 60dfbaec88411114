// Sets of agreements, folded into ranges.
//
// Agreements of a group are numbered in the order of the calls, and nearly all of them return in that order. So the set
// of agreements that a member has returned from is nearly always one range from the beginning. An agreement that is
// still under way while later ones have returned splits the range; when it returns, the parts are joined again.

#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mend::agreement {

/// The n-th agreement of a group, counted from 0 in the order of the calls, which is the same at every member.
struct AgreementId {
  std::uint64_t value = 0;
  auto operator<=>(const AgreementId&) const = default;
};

/// Agreements first, first+1, ... up to but not including `end`.
struct IdRange {
  AgreementId first;
  AgreementId end;

  bool empty() const { return !(first < end); }
  bool contains(AgreementId id) const { return first <= id && id < end; }
  bool operator==(const IdRange&) const = default;
};

/// Returns the agreements that are in both ranges.
inline IdRange intersection(const IdRange& a, const IdRange& b) {
  const IdRange both{std::max(a.first, b.first), std::min(a.end, b.end)};
  return both.empty() ? IdRange{} : both;
}

class IdRanges {
 public:
  void insert(AgreementId id) { insert(IdRange{id, {id.value + 1}}); }
  void insert(const IdRange& range) {
    if (!ranges_.empty() && ranges_.back().end == range.first) {  // the usual case: the next one in order
      if (!range.empty()) ranges_.back().end = range.end;
    } else {
      insert_anywhere(range);
    }
  }
  bool contains(AgreementId id) const { return !around(id).empty(); }
  /// Returns the whole range that contains `id`; empty if none does.
  IdRange around(AgreementId id) const;
  /// Returns the highest range; empty if there is none.
  IdRange last() const { return ranges_.empty() ? IdRange{} : ranges_.back(); }
  std::span<const IdRange> ranges() const { return ranges_; }

  bool operator==(const IdRanges&) const = default;

 private:
  void insert_anywhere(const IdRange& range);

  std::vector<IdRange> ranges_;  // ascending, disjoint, not touching
};

}  // namespace mend::agreement
