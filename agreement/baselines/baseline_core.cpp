#include "agreement/baselines/baseline_core.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace mend::agreement {

BaselineCore::BaselineCore(Member self, const ProcessSet& left_out, std::shared_ptr<const Operations> operations)
    : dead_(left_out), agreed_(left_out), self_(self), operations_(std::move(operations)), acknowledged_(left_out) {
  static const auto built_in = std::make_shared<const Operations>();
  if (!operations_) operations_ = built_in;
}

Tally BaselineCore::come_to(AgreementId id, const Contribution& contribution, bool at_one, std::string_view protocol) {
  if (id.value != came_to_ || at_one)
    throw UsageError(fmt::format("{} carries one agreement at a time, in the order of their numbers", protocol));
  if (contribution.call != Call::blocking)
    throw UsageError(fmt::format("{} has no nonblocking agreements: use era", protocol));
  ++came_to_;
  return tally_of(contribution, {}, acknowledged_, agreed_);
}

void BaselineCore::add_to(transport::Fingerprint& print) const {
  using agreement::add_to;
  add_to(print, dead_);
  add_to(print, agreed_);
  add_to(print, acknowledged_);
  print.add(came_to_);
}

}  // namespace mend::agreement
