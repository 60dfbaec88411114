#include "replay/region_log.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace mend::replay {
namespace {

RegionLog::Count count_in(const RegionLog::Counts& counts, const Channel& channel) {
  const auto found = counts.find(channel);
  return found == counts.end() ? RegionLog::Count{} : found->second;
}

/// Removes channels without messages, so that counts can be compared.
void set(RegionLog::Counts& counts, const Channel& channel, const RegionLog::Count& count) {
  if (count.number == 0) {
    counts.erase(channel);
  } else {
    counts[channel] = count;
  }
}

/// Returns the counts with the channels named from the other side.
RegionLog::Counts renamed(const RegionLog::Counts& counts, int peer) {
  RegionLog::Counts there;
  for (const auto& [channel, count] : counts) there[{peer, channel.context, channel.tag}] = count;
  return there;
}

}  // namespace

// --- the program's messages ------------------------------------------------------------------------------------

RegionLog::Region& RegionLog::now() {
  if (regions_.empty()) begin_region(0);
  return regions_.back();
}

MessageLog::Copy RegionLog::begin_send(const Channel& channel, std::size_t size) {
  return {now().memory.take(size), count_in(sends_, channel).number >= count_in(theirs_, channel).number};
}

void RegionLog::end_send(const Channel& channel, std::span<const std::byte> copy) {
  Count& sent = sends_[channel];
  now().log.push_back({channel, sent, copy});
  sent = {sent.number + 1, chained(sent.hash, hash_(copy))};
  sent_in_call_.push_back(channel);
  const auto theirs = theirs_.find(channel);
  if (theirs != theirs_.end()) compare(channel, sent, theirs->second);
}

void RegionLog::compare(const Channel& channel, const Count& mine, const Count& theirs) {
  if (difference_ || mine.number != theirs.number || mine.hash == theirs.hash) return;
  difference_ = Difference{channel, mine.number, Difference::What::content};
}

void RegionLog::receive(const Channel& channel, std::span<const std::byte> bytes, bool by_request) {
  now();
  Count& received = received_[channel];
  if (!by_request) received_in_call_.emplace_back(channel, received);
  received = {received.number + 1, chained(received.hash, hash_(bytes))};
}

void RegionLog::begin_call() {
  sent_in_call_.clear();
  received_in_call_.clear();
}

void RegionLog::undo_call() {
  for (; !sent_in_call_.empty(); sent_in_call_.pop_back()) {
    std::vector<Entry>& log = regions_.back().log;
    set(sends_, sent_in_call_.back(), log.back().before);
    log.pop_back();
  }
  for (; !received_in_call_.empty(); received_in_call_.pop_back()) {
    const auto& [channel, before] = received_in_call_.back();
    // Messages received by a request during the call count as received before it. Only those of the call are undone.
    set(received_, channel, before);
  }
}

// --- regions ---------------------------------------------------------------------------------------------------

std::optional<int> RegionLog::region() const {
  return regions_.empty() ? std::nullopt : std::optional<int>(regions_.back().id);
}

bool RegionLog::can_begin(int region) const {
  if (region < 0) return false;
  if (regions_.empty() || regions_.back().id < region) return true;
  const Region& last = regions_.back();
  return last.id == region && last.sent == sends_ && last.received == received_;
}

RegionLog::Region RegionLog::begun(int id) {
  Region made;
  made.id = id;
  made.sent = sends_;
  made.received = received_;
  if (!spare_.empty()) {
    made.memory = std::move(spare_.back());
    spare_.pop_back();
  }
  return made;
}

void RegionLog::begin_region(int region) {
  if (!regions_.empty() && regions_.back().id == region) return;
  regions_.push_back(begun(region));
  while (regions_.size() > depth_) {
    has_dropped_ = true;
    retire(std::move(regions_.front()));
    regions_.pop_front();
  }
}

void RegionLog::retire(Region region) { dropped_.push_back(std::move(region.memory)); }

void RegionLog::forget_dropped(InUse in_use) {
  std::vector<LogMemory> used;
  for (LogMemory& memory : std::exchange(dropped_, {})) {
    if (memory.has_any(in_use)) {
      used.push_back(std::move(memory));
    } else if (spare_.size() <= depth_) {
      memory.clear();
      spare_.push_back(std::move(memory));
    }
  }
  dropped_ = std::move(used);
}

/// Returns the earliest kept region that is not before `region`: all messages that precede `region` also precede that
/// region.
const RegionLog::Region* RegionLog::first_from(int region) const {
  const auto found = std::ranges::find_if(regions_, [&](const Region& one) { return one.id >= region; });
  return found == regions_.end() ? nullptr : &*found;
}

bool RegionLog::has_dropped_before(int region) const {
  return has_dropped_ && !regions_.empty() && regions_.front().id > region;
}

RegionLog::Counts RegionLog::sent_at(int region) const {
  const Region* const begun = first_from(region);
  return begun == nullptr ? sends_ : begun->sent;
}

RegionLog::Counts RegionLog::received_at(int region) const {
  const Region* const begun = first_from(region);
  return begun == nullptr ? received_ : begun->received;
}

bool RegionLog::can_go_back_to(int region) const { return region >= 0 && !has_dropped_before(region); }

void RegionLog::go_back_to(int region) {
  sends_ = sent_at(region);
  received_ = received_at(region);
  theirs_.clear();
  begin_call();
  while (!regions_.empty() && regions_.back().id >= region) {
    retire(std::move(regions_.back()));
    regions_.pop_back();
  }
  begin_region(region);
}

// --- after a failure -------------------------------------------------------------------------------------------

RegionLog::Counts RegionLog::counts_of(const Counts& counts, int peer) const {
  Counts of_peer;
  for (auto at = counts.lower_bound({peer, 0, std::numeric_limits<int>::min()});
       at != counts.end() && at->first.peer == peer; ++at)
    of_peer.insert(*at);
  return of_peer;
}

RegionLog::Report RegionLog::report_for(int peer, const Position& position) const {
  if (!position.takes_counts) return {.received = counts_of(received_, peer)};
  return {counts_of(received_, peer), counts_of(received_at(position.region), peer),
          counts_of(sent_at(position.region), peer), has_dropped_before(position.region)};
}

/// Returns the counts of messages that `peer` has received from this rank at the place where `peer` continues.
RegionLog::Counts RegionLog::needed_from(int peer, const Position& position, const Report& report) const {
  return position.takes_counts ? counts_of(sent_at(position.region), peer) : renamed(report.received, peer);
}

bool RegionLog::can_serve(int peer, const Position& position, const Report& report) const {
  if (report.is_lost || (position.takes_counts && has_dropped_before(position.region))) return false;
  const Counts theirs = needed_from(peer, position, report);
  return std::ranges::all_of(counts_of(sends_, peer), [&](const auto& sent) {
    const std::uint64_t has = count_in(theirs, sent.first).number;
    const std::uint64_t kept = regions_.empty() ? 0 : count_in(regions_.front().sent, sent.first).number;
    return has >= sent.second.number || has >= kept;
  });
}

std::vector<Resent> RegionLog::hear(int peer, const Position& position, const Report& report, bool takes_counts) {
  if (takes_counts) {
    // This rank's sends continue after what `peer` has received; its receives are those of when the region began.
    for (const auto& [channel, count] : renamed(report.received_then, peer)) sends_[channel] = count;
    for (const auto& [channel, count] : renamed(report.sent_then, peer)) received_[channel] = count;
    Region& first = now();
    first.sent = sends_;
    first.received = received_;
  }
  std::erase_if(theirs_, [&](const auto& one) { return one.first.peer == peer; });
  const Counts theirs = needed_from(peer, position, report);
  for (const auto& [channel, count] : theirs) {
    theirs_[channel] = count;
    compare(channel, count_in(sends_, channel), count);
  }
  std::vector<Resent> resent;
  for (const Region& region : regions_)
    for (const Entry& entry : region.log)
      if (entry.channel.peer == peer && entry.before.number >= count_in(theirs, entry.channel).number)
        resent.push_back({entry.channel, entry.bytes});
  return resent;
}

// --- as a member of what is committed --------------------------------------------------------------------------

namespace {

class Writer {
 public:
  void put(std::uint64_t value) {
    const auto* const at = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), at, at + sizeof value);
  }
  void put(const Channel& channel) {
    put(static_cast<std::uint64_t>(static_cast<std::uint32_t>(channel.peer)));
    put(std::uint64_t{channel.context} << 32U | static_cast<std::uint32_t>(channel.tag));
  }
  void put(const RegionLog::Count& count) {
    put(count.number);
    put(count.hash);
  }
  void put(const RegionLog::Counts& counts) {
    put(counts.size());
    for (const auto& [channel, count] : counts) {
      put(channel);
      put(count);
    }
  }
  void put(std::span<const std::byte> bytes) {
    put(bytes.size());
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint64_t word() {
    std::uint64_t value = 0;
    std::memcpy(&value, raw(sizeof value).data(), sizeof value);
    return value;
  }
  Channel channel() {
    Channel one;
    one.peer = static_cast<int>(word());
    const std::uint64_t rest = word();
    one.context = static_cast<std::uint32_t>(rest >> 32U);
    one.tag = static_cast<int>(static_cast<std::uint32_t>(rest));
    return one;
  }
  RegionLog::Count count() {
    RegionLog::Count one;
    one.number = word();
    one.hash = word();
    return one;
  }
  RegionLog::Counts counts() {
    RegionLog::Counts all;
    for (std::uint64_t left = word(); left > 0; --left) {
      const Channel one = channel();
      all[one] = count();
    }
    return all;
  }
  bool is_at_end() const { return bytes_.empty(); }
  std::span<const std::byte> raw(std::size_t size) {
    if (size > bytes_.size()) throw std::runtime_error("a message log is cut off");
    const auto taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }

 private:
  std::span<const std::byte> bytes_;
};

constexpr std::uint64_t mark = 0x6d6c6f672d303031;  // "mlog-001"

void require_sound(bool is_sound) {
  if (!is_sound) throw std::runtime_error("a message log is damaged");
}

}  // namespace

std::vector<std::byte> RegionLog::write() const {
  Writer out;
  out.put(mark);
  out.put(depth_);
  out.put(has_dropped_ ? 1U : 0U);
  out.put(sends_);
  out.put(received_);
  out.put(regions_.size());
  for (const Region& region : regions_) {
    out.put(static_cast<std::uint64_t>(region.id));
    out.put(region.sent);
    out.put(region.received);
    out.put(region.log.size());
    for (const Entry& entry : region.log) {
      out.put(entry.channel);
      out.put(entry.before);
      out.put(entry.bytes);
    }
  }
  return out.take();
}

RegionLog RegionLog::parsed(std::span<const std::byte> bytes, Hash hash) {
  Reader in(bytes);
  if (in.word() != mark) throw std::runtime_error("this is not a message log");
  RegionLog log(in.word(), hash);
  require_sound(log.depth_ > 0);
  const std::uint64_t has_dropped = in.word();
  require_sound(has_dropped <= 1);
  log.has_dropped_ = has_dropped == 1;
  log.sends_ = in.counts();
  log.received_ = in.counts();
  const std::uint64_t regions = in.word();
  require_sound(regions <= log.depth_);
  std::uint64_t least_id = 0;
  while (log.regions_.size() < regions) {
    Region& region = log.regions_.emplace_back();
    const std::uint64_t id = in.word();
    require_sound(id >= least_id && id <= std::numeric_limits<int>::max());
    least_id = id + 1;
    region.id = static_cast<int>(id);
    region.sent = in.counts();
    region.received = in.counts();
    for (std::uint64_t entries = in.word(); entries > 0; --entries) {
      Entry entry;
      entry.channel = in.channel();
      entry.before = in.count();
      const std::span<const std::byte> from = in.raw(in.word());
      const std::span<std::byte> copy = region.memory.take(from.size());
      std::ranges::copy(from, copy.begin());
      entry.bytes = copy;
      region.log.push_back(entry);
    }
  }
  require_sound(in.is_at_end());
  return log;
}

void RegionLog::read(std::span<const std::byte> bytes) {
  RegionLog log = parsed(bytes, hash_);
  while (!regions_.empty()) {
    retire(std::move(regions_.back()));
    regions_.pop_back();
  }
  theirs_.clear();
  begin_call();
  depth_ = log.depth_;
  has_dropped_ = log.has_dropped_;
  sends_ = std::move(log.sends_);
  received_ = std::move(log.received_);
  regions_ = std::move(log.regions_);
}

std::size_t RegionLog::bytes() const {
  std::size_t sum = 0;
  for (const Region& region : regions_) sum += region.memory.used();
  return sum;
}

}  // namespace mend::replay
