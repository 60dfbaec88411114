// The results that a member must keep because other members may ask for them.
//
// Long after this member has returned from an agreement, another member may ask for its result. So results are kept.
// The contributions of later agreements allow them to be dropped. Each contribution names a range of agreements that
// its member has returned from. An agreement decided with the intersection of these ranges proves that every living
// member has returned from all agreements in it, so nobody will ask again (ERA paper, section 4, "Garbage Collection").
// A message about an agreement that is over can still be on its way, and must not be taken for a message about a future
// one. So the agreements that are over are remembered as folded ranges, in constant memory.

#pragma once

#include "agreement/id_ranges.hpp"
#include "agreement/message.hpp"

#include <vector>

namespace mend::agreement {

class Archive {
 public:
  /// Keeps `result`, with which this member has returned from `id`.
  void keep(AgreementId id, const Tally& result);

  /// Returns the result of `id`; null if this member has not returned from it, or if every living member has.
  const Tally* find(AgreementId id) const {
    return kept_.empty() || kept_.back().id < id ? nullptr : search(id);  // usually asked about the next agreement
  }

  /// Returns true if every living member has returned from `id`. A message about it is late and can be dropped.
  bool is_over(AgreementId id) const { return over_.contains(id); }

  /// Returns the range to put into a contribution: agreements from which this member has returned. The range holds the
  /// oldest result that this member still keeps.
  IdRange returned() const;

  /// Every living member has returned from all agreements in `range`: drops their results.
  void forget(const IdRange& range);

  /// Returns how many results are kept.
  std::size_t size() const { return kept_.size(); }

  void add_to(transport::Fingerprint& print) const;

 private:
  struct Kept {
    AgreementId id;
    Tally result;
  };
  const Tally* search(AgreementId id) const;

  std::vector<Kept> kept_;  // ascending
  IdRanges returned_;       // the agreements from which this member has returned
  IdRanges over_;           // the agreements from which every living member has returned
};

}  // namespace mend::agreement
