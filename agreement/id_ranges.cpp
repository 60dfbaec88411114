#include "agreement/id_ranges.hpp"

#include <algorithm>

namespace mend::agreement {

void IdRanges::insert_anywhere(const IdRange& range) {
  if (range.empty()) return;
  const auto from = std::lower_bound(ranges_.begin(), ranges_.end(), range,
                                     [](const IdRange& a, const IdRange& b) { return a.end < b.first; });
  auto to = from;
  IdRange joined = range;
  for (; to != ranges_.end() && to->first <= range.end; ++to) {
    joined = {std::min(joined.first, to->first), std::max(joined.end, to->end)};
  }
  if (from == to) {
    ranges_.insert(from, joined);
  } else {
    *from = joined;
    ranges_.erase(from + 1, to);
  }
}

IdRange IdRanges::around(AgreementId id) const {
  const auto at = std::upper_bound(ranges_.begin(), ranges_.end(), id,
                                   [](AgreementId wanted, const IdRange& range) { return wanted < range.end; });
  return at != ranges_.end() && at->contains(id) ? *at : IdRange{};
}

}  // namespace mend::agreement
