#include "spares/roster.hpp"

#include <algorithm>

namespace mend {
namespace {

/// Returns the first rank whose seat satisfies `holds`.
template <class Holds>
std::optional<Rank> rank_where(const std::vector<Seat>& seats, Holds holds) {
  const auto at = std::find_if(seats.begin(), seats.end(), holds);
  if (at == seats.end()) return std::nullopt;
  return Rank{static_cast<int>(at - seats.begin())};
}

}  // namespace

std::optional<Rank> Roster::rank_of(ProcessId process) const {
  return rank_where(seats, [&](const Seat& seat) { return seat.holder.process == process; });
}

std::vector<NodeId> Roster::nodes() const {
  std::vector<NodeId> nodes;
  for (const Seat& seat : seats) nodes.push_back(seat.holder.node);
  return nodes;
}

std::optional<Rank> Roster::now(Rank origin) const {
  return rank_where(seats, [&](const Seat& seat) { return seat.origin == origin; });
}

ProcessSet Roster::absent(const std::vector<ProcessId>& living) const {
  ProcessSet all;
  for (const Seat& seat : seats) all.insert(seat.holder.process);
  for (const Placed& spare : spares) all.insert(spare.process);
  return difference(all, ProcessSet::of(living));
}

std::vector<Replacement> replacements(const Roster& before, const Roster& after) {
  std::vector<Replacement> all;
  for (const Seat& seat : after.seats) {
    const Rank rank = *before.now(seat.origin);
    const ProcessId holder = before.seat(rank).holder.process;
    if (holder != seat.holder.process) all.push_back({rank, holder, seat.holder.process});
  }
  return all;
}

}  // namespace mend
