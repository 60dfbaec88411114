#include "agreement/wire.hpp"

#include "base/error.hpp"

#include <array>
#include <cstring>

namespace mend::agreement {
namespace {

struct Header {
  std::uint8_t kind;
  std::uint8_t operation;
  std::uint8_t parts;  // which of the optional parts follow, and whether the tally counts
  std::uint8_t words;  // of the value that follow; the others are zero
};

constexpr std::uint8_t counted_part = 1;
constexpr std::uint8_t returned_part = 2;
constexpr std::uint8_t sets_part = 4;
constexpr std::uint8_t round_part = 8;
constexpr std::uint8_t all_parts = counted_part | returned_part | sets_part | round_part;

constexpr auto last_kind = static_cast<std::uint8_t>(Message::Kind::forced_nak);

std::uint8_t words_used(const Value& value) {
  std::uint8_t used = 4;
  while (used > 0 && value.words[used - 1U] == 0) --used;
  return used;
}

Header header_of(const Message& message) {
  Header header{static_cast<std::uint8_t>(message.kind), static_cast<std::uint8_t>(message.tally.operation), 0,
                words_used(message.tally.value)};
  if (message.tally.counted) header.parts |= counted_part;
  if (!message.tally.returned.empty()) header.parts |= returned_part;
  if (!message.tally.sets.empty()) header.parts |= sets_part;
  if (message.round.count > 0) header.parts |= round_part;
  return header;
}

std::array<const ProcessSet*, 4> all_of(const Sets& sets) {
  return {&sets.members, &sets.failed, &sets.acknowledged, &sets.unacknowledged};
}

template <class T>
void put(const T& object, std::vector<std::byte>& bytes) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &object, sizeof(T));
}

/// Everything but the sets, gathered before it is appended at once.
class FixedPart {
 public:
  template <class T>
  void put(const T& object) {
    std::memcpy(buffer_.data() + size_, &object, sizeof(T));
    size_ += sizeof(T);
  }
  std::span<const std::byte> bytes() const { return std::span(buffer_).first(size_); }

 private:
  std::array<std::byte, sizeof(Header) + sizeof(AgreementId) + sizeof(Value) + sizeof(IdRange) + sizeof(Round) +
                            2 * sizeof(Member)>
      buffer_;
  std::size_t size_ = 0;
};

/// Takes objects off the front of the bytes.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <class T>
  T take() {
    expect(left_.size() >= sizeof(T));
    T object;
    std::memcpy(&object, left_.data(), sizeof(T));
    left_ = left_.subspan(sizeof(T));
    return object;
  }

  ProcessSet take_set(std::uint32_t members) {
    const auto count = take<std::uint32_t>();
    expect(left_.size() / sizeof(ProcessSet::Run) >= count);
    std::vector<ProcessSet::Run> runs(count);
    for (ProcessSet::Run& run : runs) run = take<ProcessSet::Run>();
    expect(ProcessSet::are_runs(runs));
    ProcessSet set = ProcessSet::from_runs(runs);
    expect(set.is_below(members));
    return set;
  }

  void expect_end() const { expect(left_.empty()); }

  static void expect(bool valid) {
    if (!valid) throw EnvironmentError("an agreement message arrived that no member can have sent");
  }

 private:
  std::span<const std::byte> left_;
};

}  // namespace

ByteCount wire_size(const Message& message) {
  const Header header = header_of(message);
  ByteCount size = sizeof(Header) + sizeof(AgreementId) + header.words * sizeof(std::uint64_t);
  if (header.parts & returned_part) size += sizeof(IdRange);
  if (header.parts & round_part) size += sizeof(Round) + 2 * sizeof(Member);
  if (header.parts & sets_part) {
    for (const ProcessSet* set : all_of(*message.tally.sets.get())) {
      size += sizeof(std::uint32_t) + set->runs().size() * sizeof(ProcessSet::Run);
    }
  }
  return size;
}

void write(const Message& message, std::vector<std::byte>& bytes) {
  const Header header = header_of(message);
  FixedPart fixed;
  fixed.put(header);
  fixed.put(message.agreement);
  for (std::size_t i = 0; i < header.words; ++i) fixed.put(message.tally.value.words[i]);
  if (header.parts & returned_part) fixed.put(message.tally.returned);
  if (header.parts & round_part) {
    fixed.put(message.round);
    fixed.put(message.subtree_first);
    fixed.put(message.subtree_last);
  }
  bytes.insert(bytes.end(), fixed.bytes().begin(), fixed.bytes().end());
  if (header.parts & sets_part) {
    for (const ProcessSet* set : all_of(*message.tally.sets.get())) {
      put(static_cast<std::uint32_t>(set->runs().size()), bytes);
      for (const ProcessSet::Run& run : set->runs()) put(run, bytes);
    }
  }
}

Message read(std::span<const std::byte> bytes, std::uint32_t members, std::size_t operations) {
  Reader reader(bytes);
  const auto header = reader.take<Header>();
  Message message;
  Reader::expect(header.kind <= last_kind && header.operation < operations && (header.parts & ~all_parts) == 0 &&
                 header.words <= message.tally.value.words.size());
  message.kind = static_cast<Message::Kind>(header.kind);
  message.agreement = reader.take<AgreementId>();
  message.tally.operation = static_cast<Operation>(header.operation);
  message.tally.counted = (header.parts & counted_part) != 0;
  for (std::size_t i = 0; i < header.words; ++i) message.tally.value.words[i] = reader.take<std::uint64_t>();
  Reader::expect(header.words == words_used(message.tally.value));
  if (header.parts & returned_part) {
    message.tally.returned = reader.take<IdRange>();
    Reader::expect(!message.tally.returned.empty());
  }
  if (header.parts & round_part) {
    message.round = reader.take<Round>();
    message.subtree_first = reader.take<Member>();
    message.subtree_last = reader.take<Member>();
    Reader::expect(message.round.count > 0 && message.round.root.value < members &&
                   message.subtree_first.value <= members && message.subtree_last.value < members);
  }
  if (header.parts & sets_part) {
    Sets& sets = message.tally.sets.open();
    sets.members = reader.take_set(members);
    sets.failed = reader.take_set(members);
    sets.acknowledged = reader.take_set(members);
    sets.unacknowledged = reader.take_set(members);
  }
  reader.expect_end();
  return message;
}

}  // namespace mend::agreement
