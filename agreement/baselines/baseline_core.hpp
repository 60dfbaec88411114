// The common part of the baseline protocols: one blocking agreement at a time, and a member's knowledge of failures.

#pragma once

#include "agreement/core.hpp"

#include <memory>
#include <string_view>

namespace mend::agreement {

class BaselineCore : public Core {
 public:
  void receive(Member from, const Message& message, Actions& actions) final {
    if (!ignores(from)) take(from, message, actions);
  }
  void acknowledge(const ProcessSet& failures) final { acknowledged_.insert(failures); }
  const ProcessSet& known_dead() const final { return dead_; }
  const ProcessSet& agreed_dead() const final { return agreed_; }
  void add_to(transport::Fingerprint& print) const override;

  bool ignores(Member from) const { return dead_.contains(from); }

 protected:
  /// `left_out`: the members that the group began without. `operations`: null for the built-in ones alone.
  BaselineCore(Member self, const ProcessSet& left_out, std::shared_ptr<const Operations> operations);

  /// Takes a message from a member that is not known to be dead.
  virtual void take(Member from, const Message& message, Actions& actions) = 0;

  /// Counts the agreement that the caller begins, and returns the caller's contribution. Throws UsageError for a
  /// nonblocking call, if `id` is not the next agreement, or if this member has not returned from the last one
  /// (`at_one`).
  Tally come_to(AgreementId id, const Contribution& contribution, bool at_one, std::string_view protocol);

  Member self() const { return self_; }
  const Operations& operations() const { return *operations_; }

  ProcessSet dead_;
  ProcessSet agreed_;
  std::uint64_t came_to_ = 0;  // the number of agreements begun

 private:
  Member self_;
  std::shared_ptr<const Operations> operations_;
  ProcessSet acknowledged_;
};

}  // namespace mend::agreement
