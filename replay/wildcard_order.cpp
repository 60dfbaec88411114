#include "replay/wildcard_order.hpp"

#include <algorithm>
#include <utility>

namespace mend::replay {

// NOLINTNEXTLINE(performance-unnecessary-value-param): its histories are moved
WildcardOrder::WildcardOrder(int self, std::map<int, History> others, const Counts& sent, const Counts& received,
                             std::set<int> ended)
    : self_(self), ended_(std::move(ended)) {
  for (auto& [rank, history] : others) {
    if (rank == self) continue;
    list_messages(rank, history, received);
    Walker& walker = walkers_[rank];
    walker.received.resize(history.channels.size());
    walker.history = std::move(history);
  }
  for (const auto& [channel, count] : sent) {
    sent_[{self, channel.peer, channel.context, channel.tag}] = count;
    if (channel.peer != self) continue;
    const auto known = received.find(channel);
    for (std::uint64_t i = known == received.end() ? 0 : known->second; i < count; ++i) {
      std::vector<Message>& own = messages_[self].all;
      own.push_back({channel.context, channel.tag});
      arrive(self, own.size() - 1);
    }
  }
  for (const auto& [rank, walker] : walkers_) able_.push_back(rank);
  walk_all();
}

bool WildcardOrder::fits(const Pattern& pattern, int source, const Message& message) {
  return pattern.context == message.context && (pattern.source == any || pattern.source == source) &&
         (pattern.tag == any || pattern.tag == message.tag);
}

bool WildcardOrder::overlap(const Pattern& one, const Pattern& other) {
  const auto meet = [](int a, int b) { return a == any || b == any || a == b; };
  return one.context == other.context && meet(one.source, other.source) && meet(one.tag, other.tag);
}

/// Lists the messages that `source` has sent to this rank. Those that this rank has already received again count as
/// taken.
void WildcardOrder::list_messages(int source, const History& history, const Counts& received) {
  std::map<Channel, std::uint64_t> counts;
  std::vector<Message>& all = messages_[source].all;
  for (const std::uint32_t event : history.events) {
    const Channel& channel = history.channels[History::place_of(event)];
    if (History::what_of(event) != History::What::sent || channel.peer != self_) continue;
    const Channel from_here{source, channel.context, channel.tag};
    const auto known = received.find(from_here);
    const bool is_taken = known != received.end() && counts[from_here]++ < known->second;
    all.push_back({channel.context, channel.tag, false, is_taken});
  }
}

/// Continues in the history of `rank` as far as possible.
void WildcardOrder::walk(int rank) {
  Walker& walker = walkers_.at(rank);
  for (; walker.next < walker.history.events.size(); ++walker.next) {
    const std::uint32_t event = walker.history.events[walker.next];
    const History::What what = History::what_of(event);
    const Channel& channel = walker.history.channels[History::place_of(event)];
    if (what == History::What::sent) {
      if (channel.peer == self_) arrive(rank, walker.to_self++);
      was_sent({rank, channel.peer, channel.context, channel.tag});
      continue;
    }
    const Way way{channel.peer, rank, channel.context, channel.tag};
    std::uint64_t& received = walker.received[History::place_of(event)];
    if (received == sent_[way]) {
      waiting_[way] = rank;
      return;
    }
    if (what == History::What::received) ++received;
  }
}

void WildcardOrder::was_sent(const Way& way) {
  ++sent_[way];
  const auto waits = waiting_.find(way);
  if (waits == waiting_.end()) return;
  able_.push_back(waits->second);
  waiting_.erase(waits);
}

void WildcardOrder::sent(const Channel& channel) {
  if (channel.peer == self_) {
    std::vector<Message>& own = messages_[self_].all;
    own.push_back({channel.context, channel.tag});
    arrive(self_, own.size() - 1);
  }
  was_sent({self_, channel.peer, channel.context, channel.tag});
  walk_all();
  answer_waiting();
}

void WildcardOrder::walk_all() {
  while (!able_.empty()) {
    const int rank = able_.back();
    able_.pop_back();
    walk(rank);
  }
}

void WildcardOrder::arrive(int source, std::size_t place) {
  Message& message = messages_[source].all[place];
  message.has_arrived = true;
  if (message.is_taken) return;
  const auto takes =
      std::ranges::find_if(pending_, [&](const Pending& one) { return fits(one.pattern, source, message); });
  if (takes == pending_.end()) {
    order_.emplace_back(source, place);
    return;
  }
  message.is_taken = true;
  answered_.emplace_back(takes->receive, Answer{Match::logged, {source, message.tag}});
  pending_.erase(takes);
}

/// Finds the answer for a receive before which `earlier` wait.
WildcardOrder::Found WildcardOrder::find(const Pattern& pattern, std::span<const Pending> earlier) {
  if (pattern.source == any) {
    for (std::size_t i = first_in_order_; i < order_.size(); ++i) {
      const auto& [source, place] = order_[i];
      const Message& message = messages_[source].all[place];
      if (message.is_taken && i == first_in_order_) ++first_in_order_;
      if (message.is_taken || !fits(pattern, source, message)) continue;
      return {{Match::logged, {source, message.tag}}, place};
    }
    return {};
  }
  Messages& of_source = messages_[pattern.source];
  for (std::size_t i = of_source.first; i < of_source.all.size(); ++i) {
    const Message& message = of_source.all[i];
    if (message.is_taken && i == of_source.first) ++of_source.first;
    if (message.is_taken || !fits(pattern, pattern.source, message)) continue;
    if (std::ranges::any_of(earlier, [&](const Pending& one) { return fits(one.pattern, pattern.source, message); }))
      return {};
    return {{Match::logged, {pattern.source, message.tag}}, i};
  }
  if (ended_.contains(pattern.source)) return {{Match::never}};
  // One before it could take a message to come.
  const bool waits = std::ranges::any_of(earlier, [&](const Pending& one) { return overlap(one.pattern, pattern); });
  return {{waits ? Match::waits : Match::beyond}};
}

/// If a logged message was found for the receive, it takes the message.
void WildcardOrder::take(Receive receive, const Found& found) {
  if (found.answer.match == Match::beyond) beyond_.insert(receive);
  if (found.answer.match != Match::logged) return;
  const int source = found.answer.envelope.source;
  Message& message = messages_[source].all[found.place];
  message.is_taken = true;
  if (!message.has_arrived) early_[receive] = {source, found.place};
}

/// Answers the receives that wait for none before them any more. Those from any source wait for a message to arrive.
void WildcardOrder::answer_waiting() {
  std::vector<Pending> waiting;
  for (const Pending& one : std::exchange(pending_, {})) {
    const Found found = one.pattern.source == any ? Found{} : find(one.pattern, waiting);
    take(one.receive, found);
    if (found.answer.match == Match::waits) {
      waiting.push_back(one);
    } else {
      answered_.emplace_back(one.receive, found.answer);
    }
  }
  pending_ = std::move(waiting);
}

WildcardOrder::Answer WildcardOrder::look(const Pattern& pattern) { return find(pattern, pending_).answer; }

WildcardOrder::Answer WildcardOrder::poll(const Pattern& pattern) {
  const Found found = find(pattern, pending_);
  if (found.answer.match == Match::beyond) return {Match::early};
  if (found.answer.match != Match::logged) return found.answer;
  const bool is_there = messages_[found.answer.envelope.source].all[found.place].has_arrived;
  return is_there ? found.answer : Answer{Match::early};
}

bool WildcardOrder::has_arrived(Receive receive) const {
  if (beyond_.contains(receive)) return false;
  const auto early = early_.find(receive);
  if (early == early_.end()) return true;
  const auto& [source, place] = early->second;
  return messages_.at(source).all[place].has_arrived;
}

WildcardOrder::Answer WildcardOrder::post(Receive receive, const Pattern& pattern) {
  const Found found = find(pattern, pending_);
  take(receive, found);
  if (found.answer.match == Match::waits) pending_.push_back({receive, pattern});
  return found.answer;
}

void WildcardOrder::drop(Receive receive) {
  std::erase_if(pending_, [&](const Pending& one) { return one.receive == receive; });
  answer_waiting();
}

}  // namespace mend::replay
