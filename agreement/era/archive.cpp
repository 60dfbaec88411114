#include "agreement/era/archive.hpp"

#include <algorithm>

namespace mend::agreement {
namespace {

auto at_or_after(auto& kept, AgreementId id) {
  return std::lower_bound(kept.begin(), kept.end(), id,
                          [](const auto& a, AgreementId wanted) { return a.id < wanted; });
}

}  // namespace

void Archive::keep(AgreementId id, const Tally& result) {
  kept_.insert(at_or_after(kept_, id), {id, result});
  returned_.insert(id);
}

const Tally* Archive::search(AgreementId id) const {
  const auto at = at_or_after(kept_, id);
  return at != kept_.end() && at->id == id ? &at->result : nullptr;
}

IdRange Archive::returned() const { return kept_.empty() ? returned_.last() : returned_.around(kept_.front().id); }

void Archive::forget(const IdRange& range) {
  if (range.empty()) return;
  kept_.erase(at_or_after(kept_, range.first), at_or_after(kept_, range.end));
  over_.insert(range);
}

void Archive::add_to(transport::Fingerprint& print) const {
  print.add(kept_.size());
  for (const Kept& kept : kept_) {
    print.add(kept.id.value);
    agreement::add_to(print, kept.result);
  }
  const auto add_ranges = [&](const IdRanges& ranges) {
    print.add(ranges.ranges().size());
    for (const IdRange& range : ranges.ranges()) {
      print.add(range.first.value);
      print.add(range.end.value);
    }
  };
  add_ranges(returned_);
  add_ranges(over_);
}

}  // namespace mend::agreement
