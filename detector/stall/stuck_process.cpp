#include "detector/stall/stuck_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace mend::detector {
namespace {

struct Member {
  ProcessId process;
  const Whereabouts* where;
};

bool is_parked(const Whereabouts& where) { return where.place == Place::spare && where.held.count() == 0; }

bool is_in_body(const Whereabouts& where) { return where.place == Place::none || where.place == Place::interrupted; }

bool recovers(const Member& one) { return one.where->place == Place::recovery; }

bool is_behind(const Member& one, const Member& other) {
  if (one.where->turn != other.where->turn) return one.where->turn < other.where->turn;
  if (one.where->is_idle != other.where->is_idle) return one.where->is_idle;
  return one.process > other.process;
}

}  // namespace

std::optional<ProcessId> find_stuck(const Answers& answers, std::chrono::milliseconds limit) {
  std::vector<Member> held;
  std::vector<Member> parked;
  for (const auto& [process, where] : answers) {
    if (!where) return std::nullopt;
    if (is_parked(*where)) {
      parked.push_back({process, &*where});
    } else if (where->held < limit) {
      return std::nullopt;
    } else {
      held.push_back({process, &*where});
    }
  }
  if (held.empty()) return std::nullopt;
  const Member last = *std::ranges::min_element(held, is_behind);
  const auto was_called = [&](const Member& spare) {
    return spare.where->turn.stage < last.where->turn.stage && last.where->place == Place::recovery;
  };
  if (const auto deaf = std::ranges::find_if(parked, was_called); deaf != parked.end()) return deaf->process;
  if (last.where->turn.is_in_agreement() && !is_in_body(*last.where)) return last.process;

  const bool together = !is_in_body(*last.where) && std::ranges::all_of(held, [&](const Member& one) {
    return one.where->place == last.where->place;
  });
  const bool left_behind =
      !recovers(last) && std::ranges::any_of(held, recovers);  // the recovery has ended all calls but this
  return together || left_behind ? std::optional(last.process) : std::nullopt;
}

std::optional<ProcessId> find_wait_in_vain(const Answers& answers, std::chrono::milliseconds limit) {
  std::optional<Member> first;
  bool has_gone_back = false;
  for (const auto& [process, where] : answers) {
    if (!where) return std::nullopt;
    if (is_parked(*where)) continue;
    const bool waits = where->rank && std::max(where->held, where->polled) >= limit &&
                       where->place != Place::recovery && where->place != Place::interrupted &&
                       where->place != Place::end;
    if (!waits) return std::nullopt;
    has_gone_back = has_gone_back || where->has_gone_back;
    if (!first || where->rank < first->where->rank) first = Member{process, &*where};
  }
  return first && has_gone_back ? std::optional(first->process) : std::nullopt;
}

std::string describe_stuck(ProcessId process, const Whereabouts& where) {
  const std::string who = where.rank ? fmt::format("rank {} (process {})", where.rank->value, process.value)
                                     : fmt::format("process {}", process.value);
  if (is_parked(where)) return fmt::format("{} is stuck: it waits as a spare, and does not come to a recovery", who);
  return fmt::format(
      "{} is stuck {}: nothing has moved for {:.0f} s in the MPI library, where all others wait for it "
      "(--mend-stuck-limit)",
      who, describe(where.place), std::chrono::duration<double>(where.held).count());
}

}  // namespace mend::detector
