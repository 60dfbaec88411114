// Local rollback with receives from any source: the ranks that roll back get the order in which the others have sent
// and received.

#include "framework/recovery/engine.hpp"
#include "framework/local_rollback/local_rollback.hpp"
#include "transport/collectives.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mend {
namespace {

using Phase = replay::SenderLog::Phase;

/// A history of at most this many messages is sent even if no rank is known to receive from any source.
constexpr std::size_t short_history = 64 * 1024;

}  // namespace

/// Returns true if this rank sends its histories. They are long, and a rank that rolls back needs them only if it
/// receives from any source, or passes a commit.
bool LocalRollback::sends_history() const {
  std::size_t length = 0;
  for (Phase phase = 0; phase <= sender_log_.phase(); ++phase) length += sender_log_.history(phase).events.size();
  return receives_from_any_ || !numbers_known_.empty() || length <= short_history;
}

std::vector<std::uint64_t> LocalRollback::histories() const {
  std::vector<std::uint64_t> words{sends_history() ? sender_log_.phase() + 1 : 0};
  for (Phase phase = 0; phase < words.front(); ++phase) put(words, sender_log_.history(phase));
  return words;
}

PeerState::Standing LocalRollback::standing() const {
  if (messages_.replays()) return Standing::replays;
  return is_newcomer_ ? Standing::newcomer : Standing::settled;
}

/// Returns true if the rank has to repeat what others know of it. If all ranks are newcomers, none has.
bool LocalRollback::goes_back(int rank) const {
  const auto is_old = [](const PeerState& one) { return one.standing != Standing::newcomer; };
  const Standing own = others_[static_cast<std::size_t>(rank)].standing;
  return own == Standing::replays || (own == Standing::newcomer && std::ranges::any_of(others_, is_old));
}

/// The ranks that roll back get what the others have sent and received, and in which order.
void LocalRollback::exchange_histories() {
  const int self = session_.rank;
  receives_from_any_ =
      receives_from_any_ || std::ranges::any_of(others_, [](const PeerState& one) { return one.receives_from_any; });
  histories_ = {};
  ranks_back_ = 0;
  for (int rank = 0; rank < ranks_; ++rank) ranks_back_ += goes_back(rank) ? 1 : 0;
  if (ranks_back_ != 1) return;  // several know nothing of each other: no order would be right
  const MPI_Comm comm = session_.comm(Traffic::messages);
  for (int distance = 1; distance < ranks_; ++distance) {
    const int to = (self + distance) % ranks_;
    const int from = (self - distance + ranks_) % ranks_;
    if (goes_back(to)) exchange_words(comm, to, MPI_PROC_NULL, tag_of_exchange, histories());
    if (!goes_back(self)) continue;
    const std::vector<std::uint64_t> words = exchange_words(comm, MPI_PROC_NULL, from, tag_of_exchange, {});
    if (words.at(0) == 0) continue;
    std::size_t at = 1;
    std::vector<replay::History>& histories = histories_[from];
    for (Phase phase = 0; phase < words.at(0); ++phase) histories.push_back(replay::history_from(words, at));
  }
}

/// Called when this rank repeats the phase.
void LocalRollback::begin_replay() {
  const Phase phase = sender_log_.phase();
  const bool is_alone = ranks_back_ == 1;
  if (is_alone && !sender_log_.is_behind()) return messages_.end_replay();
  std::optional<replay::WildcardOrder> order;
  if (static_cast<int>(histories_.size()) == ranks_ - 1) {
    std::map<int, replay::History> others;
    std::set<int> ended;
    for (const auto& [rank, histories] : histories_) {
      others[rank] = phase < histories.size() ? histories[phase] : replay::History{};
      if (phase + 1 < histories.size()) ended.insert(rank);
    }
    order.emplace(session_.rank, others, sender_log_.sent(phase), sender_log_.received(phase), std::move(ended));
  }
  messages_.begin_replay(std::move(order), is_alone);
}

/// Called when this rank cannot continue alone.
void LocalRollback::give_up(const std::string& reason) {
  if (refusal_.empty()) refusal_ = reason;
  recover();  // all ranks learn of it there
}

}  // namespace mend
