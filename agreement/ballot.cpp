#include "agreement/ballot.hpp"

#include "agreement/find_members.hpp"
#include "base/death/fail_stop.hpp"
#include "base/name_runs.hpp"
#include "base/telemetry/place.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>
#include <vector>

namespace mend::agreement {
namespace {

// A contribution has one bit for each motion, which says "I came for this motion", and one bit that says "in favour".
// The bitwise and keeps a motion's bit only if all ranks came for that motion. Abandoning and recovering must override
// everything else, so their bits are sent inverted: the bit is cleared if any rank wants them. Each of the other
// motions has a second, inverted bit, which tells whether any rank came for it.
constexpr std::uint32_t in_favour_bit = 1U << 8;
constexpr std::uint32_t nobody_recovers_bit = 1U << 9;
constexpr std::uint32_t nobody_abandons_bit = 1U << 10;
constexpr int nobody_shift = 11;
constexpr int remarks_shift = 16;

constexpr std::array orderly{Motion::commit, Motion::restore, Motion::flag, Motion::finish, Motion::disk};
constexpr std::uint32_t nobody_bits = ((1U << orderly.size()) - 1) << nobody_shift;
static_assert(orderly.size() <= static_cast<std::size_t>(remarks_shift - nobody_shift));

constexpr std::uint32_t bit_of(Motion motion) { return 1U << static_cast<std::uint32_t>(motion); }
constexpr std::uint32_t nobody_bit_of(Motion motion) { return (bit_of(motion) << nobody_shift) & nobody_bits; }

std::uint32_t contribution(Motion motion, bool in_favour) {
  std::uint32_t bits = bit_of(motion) | nobody_recovers_bit | nobody_abandons_bit | nobody_bits;
  if (in_favour) bits |= in_favour_bit;
  if (motion == Motion::recover) bits &= ~nobody_recovers_bit;
  if (motion == Motion::abandon) bits &= ~nobody_abandons_bit;
  return bits & ~nobody_bit_of(motion);
}

/// Returns the place in the program of a rank that came for `motion`, which must be one of the orderly motions.
std::string_view whereabouts(Motion motion) {
  switch (motion) {
    case Motion::commit: return describe(Place::commit);
    case Motion::restore: return describe(Place::restore);
    case Motion::flag: return describe(Place::agree);
    case Motion::disk: return "in finish_disk() or at the end of the body";
    default: return describe(Place::finish);
  }
}

}  // namespace

std::string_view name_of(Motion motion) {
  switch (motion) {
    case Motion::commit: return "commit";
    case Motion::restore: return "restore";
    case Motion::flag: return "agree";
    case Motion::finish: return "the end of the body";
    case Motion::disk: return "the disk";
    case Motion::recover: return "recovery";
    case Motion::abandon: return "giving up";
  }
  return "?";
}

Ruling Ballot::cast(Motion motion, bool in_favour) {
  Remarks none = 0;
  return cast(motion, in_favour, none);
}

Ruling Ballot::cast(Motion motion, bool in_favour, Remarks& remarks) {
  if (closed_) return *closed_;
  const Ruling ruling = rule(motion, in_favour, remarks);
  if (ruling == Ruling::recover || ruling == Ruling::abandon) closed_ = ruling;
  return ruling;
}

Ruling Ballot::rule(Motion motion, bool in_favour, Remarks& remarks) {
  const std::uint32_t mine = contribution(motion, in_favour) | std::uint32_t{remarks} << remarks_shift;
  // A contribution cannot be taken back. If a rank left this ballot with an error and came to the next one, it would
  // wait there for ranks that this ballot has sent elsewhere.
  const Outcome outcome = or_fail_stop([&] { return agreement_->agree(mine); });
  if (!(outcome.value & nobody_abandons_bit)) return Ruling::abandon;
  if (!(outcome.value & nobody_recovers_bit) || outcome.somebody_died) return Ruling::recover;
  if (!(outcome.value & bit_of(motion))) return confuse(motion, outcome.value);
  remarks = static_cast<Remarks>(outcome.value >> remarks_shift);
  return outcome.value & in_favour_bit ? Ruling::carried : Ruling::rejected;
}

/// All ranks know that they came for different motions, and for which ones. Finds out by further agreements which ranks
/// came for each.
Ruling Ballot::confuse(Motion mine, std::uint32_t value) {
  std::vector<std::string> parts;
  for (const Motion motion : orderly) {
    if (value & nobody_bit_of(motion)) continue;
    const auto came = or_fail_stop([&] { return find_members(*agreement_, rank_.value, ranks_, motion == mine); });
    if (!came) return Ruling::recover;
    std::vector<Rank> ranks;
    for (const int rank : *came) ranks.push_back(Rank{rank});
    if (ranks.empty()) continue;
    parts.push_back(fmt::format("{} {} {}", name_ranks(ranks), ranks.size() == 1 ? "is" : "are", whereabouts(motion)));
  }
  confusion_ = fmt::format("{}: every rank must come to these in the same order", fmt::join(parts, ", "));
  return Ruling::confused;
}

bool Ballot::vote(Motion motion, bool in_favour) {
  Remarks none = 0;
  return vote(motion, in_favour, none);
}

bool Ballot::vote(Motion motion, bool in_favour, Remarks& remarks) {
  switch (cast(motion, in_favour, remarks)) {
    case Ruling::carried: return true;
    case Ruling::rejected: return false;
    case Ruling::recover: throw ProcessFailure(fmt::format("the ballot on {}", name_of(motion)));
    case Ruling::abandon: throw Abandoned();
    case Ruling::confused: break;
  }
  throw OrderError(confusion_);
}

}  // namespace mend::agreement
