#include "framework/epoch/recovery_history.hpp"

#include <algorithm>

namespace mend {

void RecoveryHistory::begin_epoch(const StoreStatistics& store) {
  clock_.begin_epoch();
  before_epoch_ = store;
  committed_elsewhere_ = 0;
  restored_elsewhere_ = {};
}

std::uint64_t RecoveryHistory::committed(const StoreStatistics& now) const {
  return committed_elsewhere_ + now.commits - before_epoch_.commits;
}

RecoveryHistory::Commits RecoveryHistory::commits(const StoreStatistics& now) const {
  return {now.commits - before_epoch_.commits, now.commit_time - before_epoch_.commit_time};
}

void RecoveryHistory::close_restore_time(const StoreStatistics& now) {
  if (recoveries_.empty()) return;
  recoveries_.back().restore = std::chrono::duration_cast<Milliseconds>(now.first_restore_time + restored_elsewhere_);
}

std::span<const RecoveryReport> RecoveryHistory::last(int count) const {
  const auto most = std::min(static_cast<std::size_t>(std::max(count, 0)), recoveries_.size());
  return std::span(recoveries_).last(most);
}

}  // namespace mend
