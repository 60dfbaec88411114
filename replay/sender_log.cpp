#include "replay/sender_log.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace mend::replay {
namespace {

/// Finalizer of SplitMix64 (Steele, Lea, Flood, 2014).
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 30U) * 0xbf58476d1ce4e5b9U;
  value = (value ^ value >> 27U) * 0x94d049bb133111ebU;
  return value ^ value >> 31U;
}

std::uint64_t weight(int from, int to, const SenderLog::Channel& channel) {
  const auto word = [](int value) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(value)); };
  const std::uint64_t ends = mixed(word(from) << 32U | word(to));
  return mixed(ends ^ mixed(std::uint64_t{channel.context} << 32U | word(channel.tag))) | 1U;
}

}  // namespace

std::uint64_t MessageLog::chained(std::uint64_t before, std::uint64_t content) {
  return mixed(std::rotl(before, 23) ^ content) + 1;
}

SenderLog::SenderLog(int self, Hash hash, std::vector<bool> mates)
    : SenderLog(self, hash, std::move(mates), Window{}) {}

/// Memory is reused in pieces as large as the messages that several mates may have to acknowledge.
SenderLog::SenderLog(int self, Hash hash, std::vector<bool> mates, Window window)
    : self_(self), hash_(hash), mates_(std::move(mates)), window_(window) {
  need_phase(0);
}

/// Makes the phases up to this one.
void SenderLog::need_phase(Phase phase) {
  while (phases_.size() <= phase) {
    if (unused_.empty()) unused_.emplace_back(2 * window_.bytes);
    phases_.push_back(std::move(unused_.back()));
    unused_.pop_back();
  }
}

/// Forgets everything, and keeps the memory for another phase.
void SenderLog::OfPhase::clear() {
  memory.clear();
  retained.drop_all();
  forgotten = 0;
  has_forgotten = false;
  logged = 0;
  for (auto& [peer, entries] : log) entries.clear();
  sends.clear();
  received.clear();
  history.channels.clear();
  history.events.clear();
}

/// Returns true if `peer` has ended this phase, according to its last report.
bool SenderLog::is_past(int peer) const {
  const auto known = peers_.find(peer);
  return known != peers_.end() && known->second > phase_;
}

/// Returns true if the receiver does not need the next message of `channel` any more.
bool SenderLog::is_known(const Channel& channel, const Sends& sends) const {
  return sends.count < sends.theirs.count || is_past(channel.peer);
}

MessageLog::Copy SenderLog::begin_send(const Channel& channel, std::size_t size) {
  held_ += is_mate(channel.peer) ? LogMemory::room_for(size) : size + bytes_beside;
  const std::span<std::byte> copy = is_mate(channel.peer) ? now().retained.take(size) : now().memory.take(size);
  return {copy, !is_known(channel, now().sends[channel])};
}

void SenderLog::end_send(const Channel& channel, std::span<const std::byte> copy) {
  Sends& sends = now().sends[channel];
  const std::uint64_t number = sends.count++;
  sends.bytes += copy.size();
  if (is_mate(channel.peer)) {
    now().retained.keep(channel, number, copy);
  } else {
    if (sends.log == nullptr) sends.log = &now().log[channel.peer];
    sends.log->push_back({channel, number, copy});
    ++now().logged;
  }
  note_event(channel, sends.place, History::What::sent);
  if (behind_ && number < sends.theirs.met()) --*behind_;
  if (number >= sends.theirs.count) {
    if (is_past(channel.peer)) note(channel, number + 1, Difference::What::more);
    return;
  }
  ++compared_;
  sends.hash = chained(sends.hash, hash_(copy));
  if (number + 1 == sends.theirs.count && sends.hash != sends.theirs.hash)
    note(channel, number + 1, Difference::What::content);
}

void SenderLog::receive(const Channel& channel, std::span<const std::byte> bytes, bool /*by_request*/) {
  Received& received = now().received[channel];
  ++received.count;
  received.is_found = false;
  note_event(channel, received.place, History::What::received);
  if (!is_mate(channel.peer)) {
    received.hash = chained(received.hash, hash_(bytes));
    return;
  }
  Unacknowledged& to_tell = unacknowledged_[channel.peer];
  if (!std::exchange(received.is_to_tell, true)) to_tell.channels.push_back(channel);
  const bool was_due = is_due(to_tell);
  ++to_tell.messages;
  to_tell.bytes += bytes.size();
  if (!was_due && is_due(to_tell)) due_.push_back(channel.peer);
}

void SenderLog::found(const Channel& channel) {
  Received& received = now().received[channel];
  if (!std::exchange(received.is_found, true)) note_event(channel, received.place, History::What::found);
}

bool SenderLog::is_due(const Unacknowledged& one) const {
  return one.messages >= window_.messages || one.bytes >= window_.bytes;
}

std::vector<SenderLog::Acknowledgement> SenderLog::take_acknowledgements() {
  std::vector<Acknowledgement> all;
  for (const int mate : std::exchange(due_, {})) {
    Unacknowledged told = std::exchange(unacknowledged_[mate], {});
    std::vector<std::uint64_t>& words = all.emplace_back(Acknowledgement{mate, {number_}}).words;
    for (const Channel& channel : told.channels) {
      Received& received = now().received.at(channel);
      received.is_to_tell = false;
      const auto tag = static_cast<std::uint32_t>(channel.tag);
      words.insert(words.end(), {std::uint64_t{channel.context} << 32U | tag, received.count});
    }
  }
  return all;
}

void SenderLog::acknowledged(int by, std::span<const std::uint64_t> words) {
  if (words.empty() || words.front() != number_) return;  // of a phase that has ended
  for (std::size_t at = 1; at + 1 < words.size(); at += 2) {
    const auto tag = static_cast<int>(static_cast<std::uint32_t>(words[at]));
    now().retained.received({by, static_cast<std::uint32_t>(words[at] >> 32U), tag}, words[at + 1]);
  }
}

void SenderLog::begin_phase() {
  for (const auto& [channel, sends] : now().sends)
    if (sends.count < sends.theirs.count) note(channel, sends.count + 1, Difference::What::fewer);
  behind_.reset();
  unacknowledged_.clear();
  due_.clear();
  ++number_;
  need_phase(++phase_);
}

/// The copies of the setup for mates are not needed any more either: all have restored.
void SenderLog::committed() {
  phases_.front().retained.drop_all();
  for (; phase_ > 1; --phase_) {
    OfPhase dropped = std::move(phases_[1]);
    phases_.erase(phases_.begin() + 1);
    dropped.clear();
    const bool has_begun = !phases_[1].sends.empty() || !phases_[1].received.empty();
    (has_begun ? unused_.emplace_back(0) : phases_[1]) = std::move(dropped);
  }
  peers_.clear();
  behind_.reset();
  has_heard_ = false;
  count_held();
}

void SenderLog::forget_log(InUse in_use) {
  for (Phase phase = std::min<Phase>(phase_, 1); phase <= phase_; ++phase) {
    OfPhase& one = phases_[phase];
    // The next commit frees the copies of the setup.
    const bool has_any = std::ranges::any_of(one.log, [](const auto& entries) { return !entries.second.empty(); }) ||
                         (phase > 0 && (!one.retained.empty() || !one.history.events.empty()));
    one.has_forgotten = one.has_forgotten || has_any;
    if (one.has_forgotten) one.history = {};
    one.retained.drop_all(in_use);
    one.forgotten += one.memory.used();
    one.memory.clear(in_use);
    for (auto& [peer, entries] : one.log) entries = {};
  }
  count_held();
}

/// Returns the sum of `bytes_in(phase)` over all phases.
template <class BytesIn>
std::size_t SenderLog::sum_over_phases(BytesIn bytes_in) const {
  return std::accumulate(phases_.begin(), phases_.end(), std::size_t{0},
                         [&](std::size_t sum, const OfPhase& one) { return sum + bytes_in(one); });
}

std::size_t SenderLog::bytes() const { return sum_over_phases(&SenderLog::bytes_of); }

std::size_t SenderLog::room() const { return sum_over_phases(&SenderLog::room_of); }

void SenderLog::count_held() {
  held_ =
      bytes_kept() + retained_bytes() + sum_over_phases([](const OfPhase& one) {
        return std::accumulate(one.log.begin(), one.log.end(), one.history.events.size() * bytes_of_event,
                               [](std::size_t sum, const auto& of) { return sum + of.second.size() * bytes_beside; });
      });
}

std::size_t SenderLog::bytes_kept() const {
  return sum_over_phases([](const OfPhase& one) { return one.memory.used(); });
}

std::size_t SenderLog::retained_bytes() const {
  return sum_over_phases([](const OfPhase& one) { return one.retained.bytes(); });
}

bool SenderLog::has_forgotten() const { return std::ranges::any_of(phases_, &OfPhase::has_forgotten); }

/// A phase whose messages were forgotten has no history: all ranks roll back at a failure.
void SenderLog::note_event(const Channel& channel, std::uint32_t& place, History::What what) {
  if (now().has_forgotten) return;
  History& history = now().history;
  if (place == nowhere) {
    place = static_cast<std::uint32_t>(history.channels.size());
    history.channels.push_back(channel);
  }
  history.events.push_back(History::event(place, what));
  held_ += bytes_of_event;
}

bool SenderLog::is_behind() const {
  if (std::ranges::any_of(peers_, [&](const auto& peer) { return peer.second > phase_; })) return true;
  if (!behind_) {
    behind_ = 0;
    for (const auto& [channel, sends] : now().sends)
      *behind_ += sends.theirs.met() - std::min(sends.count, sends.theirs.met());
  }
  return *behind_ > 0;
}

void SenderLog::reuse_retained(InUse in_use) {
  for (OfPhase& one : phases_) one.retained.reuse(in_use);
  count_held();
}

std::uint64_t SenderLog::balance_of_phases(Phase end) const {
  std::uint64_t sum = 0;
  for (Phase phase = 0; phase < end; ++phase) {
    const std::uint64_t factor = 2 * phase + 1;
    for (const auto& [channel, sends] : phases_[phase].sends)
      sum += sends.count * factor * weight(self_, channel.peer, channel);
    for (const auto& [channel, received] : phases_[phase].received)
      sum -= received.count * factor * weight(channel.peer, self_, channel);
  }
  return sum;
}

std::vector<std::uint64_t> SenderLog::bytes_sent(int ranks) const {
  std::vector<std::uint64_t> bytes(static_cast<std::size_t>(ranks));
  for (const auto& [channel, sends] : now().sends) bytes.at(static_cast<std::size_t>(channel.peer)) += sends.bytes;
  return bytes;
}

std::map<SenderLog::Channel, std::uint64_t> SenderLog::sent_to(int peer) const {
  std::map<Channel, std::uint64_t> counts;
  for (const auto& [channel, sends] : now().sends)
    if (channel.peer == peer) counts[channel] = sends.count;
  return counts;
}

std::map<SenderLog::Channel, std::uint64_t> SenderLog::received_from(int peer) const {
  std::map<Channel, std::uint64_t> counts;
  for (const auto& [channel, received] : now().received)
    if (channel.peer == peer) counts[channel] = received.count;
  return counts;
}

std::map<SenderLog::Channel, std::uint64_t> SenderLog::sent(Phase phase) const {
  std::map<Channel, std::uint64_t> counts;
  for (const auto& [channel, sends] : phases_.at(phase).sends) counts[channel] = sends.count;
  return counts;
}

std::map<SenderLog::Channel, std::uint64_t> SenderLog::received(Phase phase) const {
  std::map<Channel, std::uint64_t> counts;
  for (const auto& [channel, received] : phases_.at(phase).received) counts[channel] = received.count;
  return counts;
}

SenderLog::Receipts SenderLog::receipts_for(int peer) const {
  Receipts receipts{phase_, {}};
  for (Phase phase = 0; phase <= phase_; ++phase) {
    std::vector<Receipt>& of_phase = receipts.phases.emplace_back();
    for (const auto& [channel, received] : phases_[phase].received)
      if (channel.peer == peer)
        of_phase.push_back({channel.context, channel.tag, received.count, received.hash, received.is_found});
  }
  return receipts;
}

std::vector<SenderLog::Resent> SenderLog::hear(int peer, const Receipts& receipts) {
  std::vector<Resent> resent;
  peers_[peer] = receipts.phase;
  has_heard_ = true;
  behind_.reset();
  need_phase(receipts.phase);
  for (Phase phase = 0; phase < phases_.size(); ++phase)
    hear_phase(phases_[phase], peer, phase < receipts.phases.size() ? receipts.phases[phase] : std::vector<Receipt>{},
               resent);
  return resent;
}

void SenderLog::hear_phase(OfPhase& phase, int peer, const std::vector<Receipt>& receipts,
                           std::vector<Resent>& resent) {
  for (auto& [channel, sends] : phase.sends)
    if (channel.peer == peer) sends.theirs = {};
  for (const Receipt& receipt : receipts) {
    const Channel channel{peer, receipt.context, receipt.tag};
    phase.sends[channel].theirs = {receipt.count, receipt.hash, receipt.is_found};
    if (is_mate(peer)) phase.retained.received(channel, receipt.count);
  }
  if (const auto log = phase.log.find(peer); log != phase.log.end()) {
    for (const Entry& entry : log->second)
      if (entry.number >= phase.sends.at(entry.channel).theirs.count) resent.push_back({entry.channel, entry.bytes});
  }
  if (!is_mate(peer)) return;
  const std::vector<Resent> lost = phase.retained.of(peer);
  resent.insert(resent.end(), lost.begin(), lost.end());
}

void SenderLog::note(const Channel& channel, std::uint64_t number, Difference::What what) {
  if (!difference_) difference_ = Difference{channel, number, what};
}

}  // namespace mend::replay
