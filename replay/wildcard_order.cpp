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
    const Channel& channel = history.channels[event / 2];
    if (event % 2 == 1 || channel.peer != self_) continue;
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
    const Channel& channel = walker.history.channels[event / 2];
    if (event % 2 == 0) {
      if (channel.peer == self_) arrive(rank, walker.to_self++);
      was_sent({rank, channel.peer, channel.context, channel.tag});
      continue;
    }
    const Way way{channel.peer, rank, channel.context, channel.tag};
    std::uint64_t& received = walker.received[event / 2];
    if (received == sent_[way]) {
      waiting_[way] = rank;
      return;
    }
    ++received;
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

/// Returns the answer for a receive before which `earlier` wait.
WildcardOrder::Answer WildcardOrder::find(const Pattern& pattern, std::span<const Pending> earlier, Message** found) {
  if (pattern.source == any) {
    for (std::size_t i = first_in_order_; i < order_.size(); ++i) {
      const auto& [source, place] = order_[i];
      Message& message = messages_[source].all[place];
      if (message.is_taken && i == first_in_order_) ++first_in_order_;
      if (message.is_taken || !fits(pattern, source, message)) continue;
      *found = &message;
      return {Match::logged, {source, message.tag}};
    }
    return {};
  }
  Messages& of_source = messages_[pattern.source];
  for (std::size_t i = of_source.first; i < of_source.all.size(); ++i) {
    Message& message = of_source.all[i];
    if (message.is_taken && i == of_source.first) ++of_source.first;
    if (message.is_taken || !fits(pattern, pattern.source, message)) continue;
    if (std::ranges::any_of(earlier, [&](const Pending& one) { return fits(one.pattern, pattern.source, message); }))
      return {};
    *found = &message;
    return {Match::logged, {pattern.source, message.tag}};
  }
  if (ended_.contains(pattern.source)) return {Match::never};
  // One before it could take a message to come.
  const bool waits = std::ranges::any_of(earlier, [&](const Pending& one) { return overlap(one.pattern, pattern); });
  return {waits ? Match::waits : Match::beyond};
}

/// Answers the receives that wait for none before them any more. Those from any source wait for a message to arrive.
void WildcardOrder::answer_waiting() {
  std::vector<Pending> waiting;
  for (const Pending& one : std::exchange(pending_, {})) {
    Message* found = nullptr;
    const Answer answer = one.pattern.source == any ? Answer{} : find(one.pattern, waiting, &found);
    if (found != nullptr) found->is_taken = true;
    if (answer.match == Match::waits) {
      waiting.push_back(one);
    } else {
      answered_.emplace_back(one.receive, answer);
    }
  }
  pending_ = std::move(waiting);
}

WildcardOrder::Answer WildcardOrder::look(const Pattern& pattern) {
  Message* found = nullptr;
  return find(pattern, pending_, &found);
}

WildcardOrder::Answer WildcardOrder::post(Receive receive, const Pattern& pattern) {
  Message* found = nullptr;
  const Answer answer = find(pattern, pending_, &found);
  if (found != nullptr) found->is_taken = true;
  if (answer.match == Match::waits) pending_.push_back({receive, pattern});
  return answer;
}

void WildcardOrder::drop(Receive receive) {
  std::erase_if(pending_, [&](const Pending& one) { return one.receive == receive; });
  answer_waiting();
}

}  // namespace mend::replay
