// The results that a member must keep because somebody may yet ask for them.
//
// Returning early has a price: long after this member has returned from an agreement, another may have to be told
// its result. So results are kept. What lets them go are the contributions of later agreements, each of which
// names a range of agreements that its member has returned from: an agreement decided with the ranges' intersection
// proves that every living member has returned from all of them, and nobody will ask again (ERA paper, section 4,
// "Garbage Collection"). A message about such an agreement can still be on its way, and must not be taken for one
// about an agreement yet to come; which ones are over is remembered as folded ranges, in constant memory.

#pragma once

#include "agreement/id_ranges.hpp"
#include "agreement/message.hpp"

#include <vector>

namespace mend::agreement {

class Archive {
 public:
  /// This member has returned from `id` with `result`.
  void keep(AgreementId id, const Tally& result);

  /// The result of `id`; null when this member has not returned from it, or every living one has.
  const Tally* find(AgreementId id) const {
    return kept_.empty() || kept_.back().id < id ? nullptr : search(id);  // nearly always asked about the next one
  }

  /// Whether every living member has returned from `id`: whatever is said about it now, comes late.
  bool is_over(AgreementId id) const { return over_.contains(id); }

  /// What a contribution says: a range of agreements from which this member has returned, chosen so that the
  /// oldest result it still keeps is among them.
  IdRange returned() const;

  /// Every living member has returned from all in `range`: forgets their results.
  void forget(const IdRange& range);

  /// How many results are kept.
  std::size_t size() const { return kept_.size(); }

  void add_to(transport::Fingerprint& print) const;

 private:
  struct Kept {
    AgreementId id;
    Tally result;
  };
  const Tally* search(AgreementId id) const;

  std::vector<Kept> kept_;  // ascending
  IdRanges returned_;       // from these this member has returned
  IdRanges over_;           // from these every living member has
};

}  // namespace mend::agreement
