// The state of mend::kokkos::checkpoint for one entry of the body: the protected Views, the last step of each region,
// and the check that a region can still be restored (framework/mend_kokkos.hpp has the rules).

#pragma once

#include "base/error.hpp"
#include "framework/kokkos/allocations.hpp"
#include "framework/rollback.hpp"
#include "framework/session.hpp"
#include "store/member.hpp"
#include "store/store.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mend {
namespace kokkos::detail {

/// The last step of each region.
struct Progress {
  std::map<std::string, std::int64_t, std::less<>> steps;
};

}  // namespace kokkos::detail

template <>
struct Serializer<kokkos::detail::Progress> {
  static std::vector<std::byte> write(const kokkos::detail::Progress& progress) {
    std::vector<std::byte> bytes;
    const auto append = [&bytes](const void* from, std::size_t size) {
      const auto* const begin = static_cast<const std::byte*>(from);
      bytes.insert(bytes.end(), begin, begin + size);
    };
    for (const auto& [label, step] : progress.steps) {
      const std::uint64_t length = label.size();
      append(&length, sizeof length);
      append(label.data(), label.size());
      append(&step, sizeof step);
    }
    return bytes;
  }
  static void read(kokkos::detail::Progress& progress, std::span<const std::byte> bytes) {
    progress.steps.clear();
    const auto take = [&bytes](void* to, std::size_t size) {
      if (size > bytes.size()) throw std::length_error("the stored steps of regions are cut off");
      if (size > 0) std::memcpy(to, bytes.data(), size);
      bytes = bytes.subspan(size);
    };
    while (!bytes.empty()) {
      std::uint64_t length = 0;
      take(&length, sizeof length);
      std::string label(length, ' ');
      take(label.data(), length);
      take(&progress.steps[label], sizeof(std::int64_t));
    }
  }
};

namespace kokkos::detail {

/// The regions of one entry of the body.
class Regions {
 public:
  explicit Regions(Session& session) : session_(session) {}

  /// Returns true if the region must run this step.
  bool begin(std::string_view label, std::int64_t step, const std::map<std::string, Shared>& views) {
    if (!running_.empty()) {
      throw UsageError("region '" + std::string(label) + "' is in region '" + running_ +
                       "', which would be done again as a whole: let one follow the other");
    }
    const bool is_alone = session_.rollback() == Rollback::local;  // a rank that stays keeps its data
    if (is_alone && !seen_.empty() && !seen_.contains(label)) {
      throw UsageError("region '" + std::string(label) +
                       "' is a second one, and --mend-rollback local covers one: put "
                       "both into one lambda, or use --mend-rollback all");
    }
    if (session_.epoch() != epoch_ && !is_alone) {  // after Session::repair
      epoch_ = session_.epoch();
      seen_.clear();
    }
    protect(label, views);
    if (seen_.emplace(label).second) restore(label);
    if (step <= last(label)) return false;
    require_all_restored(label);
    running_ = label;
    return true;
  }

  /// After the lambda: protects what it holds now, because it may have assigned Views in a View of Views.
  void end(std::string_view label, std::int64_t step, const std::map<std::string, Shared>& views) {
    protect(label, views);
    progress_.steps.insert_or_assign(std::string(label), step);
    running_.clear();
  }
  /// Ends the region after its lambda has thrown.
  void give_up() { running_.clear(); }

  std::int64_t last(std::string_view label) const {
    const auto known = progress_.steps.find(label);
    return known == progress_.steps.end() ? -1 : known->second;
  }

 private:
  /// The View that has a label.
  struct Known {
    Record* record;
    std::unique_ptr<Member> owner;  ///< keeps the record, also if the program ends the View's protection
    std::string region;             ///< has captured it last
  };

  /// Returns true if a region is about to take a label from a View that another region captures, and that the program
  /// still has: then each would be saved in turn, and restored into both.
  static bool are_two(const Known& known, std::string_view region, const std::map<std::string, Shared>& views) {
    constexpr int own = 2;  // the store's member and the owner above
    const bool is_captured_too =
        std::ranges::any_of(views, [&](const auto& one) { return one.second.record == known.record; });
    return known.region != region && !is_captured_too && known.record->use_count() > own;
  }

  void protect(std::string_view region, const std::map<std::string, Shared>& views) {
    if (!is_protected_) session_.store().protect("mend::kokkos regions", progress_);
    is_protected_ = true;
    for (const auto& [label, shared] : views) {
      const std::string name = "View " + label;
      const auto known = known_.find(name);
      if (known != known_.end() && known->second.record == shared.record) {
        known->second.region = region;
        continue;
      }
      if (known == known_.end()) {
        session_.store().protect(name, shared.member(shared.record));
      } else {
        if (are_two(known->second, region, views))
          throw UsageError("two Views that regions capture have the label '" + label +
                           "': give each a label of its own");
        session_.store().replace(name, shared.member(shared.record));
      }
      known_[name] = {shared.record, shared.member(shared.record), std::string(region)};
    }
  }

  void restore(std::string_view label) {
    const bool is_first = seen_.size() == 1;
    if (is_first || last(label) >= 0) session_.store().restore();  // the restored version contains it
  }

  /// Throws UsageError if a committed region was not called yet: its later restore would undo the steps of this region.
  void require_all_restored(std::string_view label) const {
    for (const auto& [other, step] : progress_.steps) {
      if (seen_.contains(other)) continue;
      throw UsageError("region '" + other + "' was committed, and is not called before region '" + std::string(label) +
                       "' goes on, so it cannot be restored: let every region be called in the first step, where those "
                       "that were done are passed over");
    }
  }

  Session& session_;
  Epoch epoch_{};
  Progress progress_;
  bool is_protected_ = false;
  std::set<std::string, std::less<>> seen_;
  std::map<std::string, Known> known_;
  std::string running_;
};

template <class Lambda, class IsDue>
bool run_region(Session& session, std::string_view label, std::int64_t step, const Lambda& lambda, IsDue is_due) {
  auto& regions = session.of_this_entry<Regions>();
  if (!regions.begin(label, step, Held::by(lambda))) return false;
  try {
    lambda();
    regions.end(label, step, Held::by(lambda));
  } catch (...) {
    regions.give_up();
    throw;
  }
  if (is_due()) session.store().commit();
  return true;
}

}  // namespace kokkos::detail
}  // namespace mend
