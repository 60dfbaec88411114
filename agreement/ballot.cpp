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

// A contribution has one bit for each proposal, which says "I made this proposal", and one bit that says "in favour".
// The bitwise and keeps a proposal's bit only if all ranks made that proposal. Abandoning and recovering must override
// everything else, so their bits are sent inverted: the bit is cleared if any rank wants them. Each of the other
// proposals has a second, inverted bit, which tells whether any rank made it.
constexpr std::uint32_t in_favour_bit = 1U << 8;
constexpr std::uint32_t nobody_recovers_bit = 1U << 9;
constexpr std::uint32_t nobody_abandons_bit = 1U << 10;
constexpr int nobody_shift = 11;
constexpr int remarks_shift = 16;

constexpr std::array orderly{Proposal::commit, Proposal::restore, Proposal::flag, Proposal::finish, Proposal::disk};
constexpr std::uint32_t nobody_bits = ((1U << orderly.size()) - 1) << nobody_shift;
static_assert(orderly.size() <= static_cast<std::size_t>(remarks_shift - nobody_shift));

constexpr std::uint32_t bit_of(Proposal proposal) { return 1U << static_cast<std::uint32_t>(proposal); }
constexpr std::uint32_t nobody_bit_of(Proposal proposal) { return (bit_of(proposal) << nobody_shift) & nobody_bits; }

std::uint32_t contribution(Proposal proposal, bool in_favour) {
  std::uint32_t bits = bit_of(proposal) | nobody_recovers_bit | nobody_abandons_bit | nobody_bits;
  if (in_favour) bits |= in_favour_bit;
  if (proposal == Proposal::recover) bits &= ~nobody_recovers_bit;
  if (proposal == Proposal::abandon) bits &= ~nobody_abandons_bit;
  return bits & ~nobody_bit_of(proposal);
}

/// Returns the place in the program of a rank that made `proposal`, which must be one of the orderly proposals.
std::string_view whereabouts(Proposal proposal) {
  switch (proposal) {
    case Proposal::commit: return describe(Place::commit);
    case Proposal::restore: return describe(Place::restore);
    case Proposal::flag: return describe(Place::agree);
    case Proposal::disk: return "in finish_disk() or at the end of the body";
    default: return describe(Place::finish);
  }
}

}  // namespace

std::string_view name_of(Proposal proposal) {
  switch (proposal) {
    case Proposal::commit: return "commit";
    case Proposal::restore: return "restore";
    case Proposal::flag: return "agree";
    case Proposal::finish: return "the end of the body";
    case Proposal::disk: return "the disk";
    case Proposal::recover: return "recovery";
    case Proposal::abandon: return "giving up";
  }
  return "?";
}

BallotResult Ballot::cast(Proposal proposal, bool in_favour) {
  Remarks none = 0;
  return cast(proposal, in_favour, none);
}

BallotResult Ballot::cast(Proposal proposal, bool in_favour, Remarks& remarks) {
  if (closed_) return *closed_;
  const BallotResult result = decide(proposal, in_favour, remarks);
  if (result == BallotResult::recover || result == BallotResult::abandon) closed_ = result;
  return result;
}

BallotResult Ballot::decide(Proposal proposal, bool in_favour, Remarks& remarks) {
  const std::uint32_t mine = contribution(proposal, in_favour) | std::uint32_t{remarks} << remarks_shift;
  // A contribution cannot be taken back. If a rank left this ballot with an error and came to the next one, it would
  // wait there for ranks that this ballot has sent elsewhere.
  const Outcome outcome = or_fail_stop([&] { return agreement_->agree(mine); });
  if (!(outcome.value & nobody_abandons_bit)) return BallotResult::abandon;
  if (!(outcome.value & nobody_recovers_bit) || outcome.somebody_died) return BallotResult::recover;
  if (!(outcome.value & bit_of(proposal))) return confuse(proposal, outcome.value);
  remarks = static_cast<Remarks>(outcome.value >> remarks_shift);
  return outcome.value & in_favour_bit ? BallotResult::accepted : BallotResult::rejected;
}

/// All ranks know that they made different proposals, and which ones. Finds out by further agreements which ranks made
/// each.
BallotResult Ballot::confuse(Proposal mine, std::uint32_t value) {
  std::vector<std::string> parts;
  for (const Proposal proposal : orderly) {
    if (value & nobody_bit_of(proposal)) continue;
    const auto came = or_fail_stop([&] { return find_members(*agreement_, rank_.value, ranks_, proposal == mine); });
    if (!came) return BallotResult::recover;
    std::vector<Rank> ranks;
    for (const int rank : *came) ranks.push_back(Rank{rank});
    if (ranks.empty()) continue;
    parts.push_back(
        fmt::format("{} {} {}", name_ranks(ranks), ranks.size() == 1 ? "is" : "are", whereabouts(proposal)));
  }
  confusion_ = fmt::format("{}: every rank must come to these in the same order", fmt::join(parts, ", "));
  return BallotResult::confused;
}

bool Ballot::vote(Proposal proposal, bool in_favour) {
  Remarks none = 0;
  return vote(proposal, in_favour, none);
}

bool Ballot::vote(Proposal proposal, bool in_favour, Remarks& remarks) {
  switch (cast(proposal, in_favour, remarks)) {
    case BallotResult::accepted: return true;
    case BallotResult::rejected: return false;
    case BallotResult::recover: throw ProcessFailure(fmt::format("the ballot on {}", name_of(proposal)));
    case BallotResult::abandon: throw Abandoned();
    case BallotResult::confused: break;
  }
  throw OrderError(confusion_);
}

}  // namespace mend::agreement
