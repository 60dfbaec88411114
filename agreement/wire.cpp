#include "agreement/wire.hpp"

#include "base/byte_reader.hpp"
#include "base/error.hpp"

#include <array>
#include <cstring>

namespace mend::agreement {
namespace {

struct Header {
  std::uint8_t kind;
  std::uint8_t operation;
  std::uint8_t parts;  // the optional parts that follow, and whether the tally counts
  std::uint8_t words;  // how many words of the value follow; the others are zero
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

/// Everything but the sets, gathered so that it is appended at once.
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

void refuse() { throw EnvironmentError("an agreement message arrived that no member can have sent"); }

ProcessSet take_set(ByteReader& reader, std::uint32_t members) {
  const auto count = reader.take<std::uint32_t>();
  const auto runs = reader.take_all<ProcessSet::Run>(count);
  reader.expect(ProcessSet::are_runs(runs));
  ProcessSet set = ProcessSet::from_runs(runs);
  reader.expect(set.is_below(members));
  return set;
}

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
      append(static_cast<std::uint32_t>(set->runs().size()), bytes);
      for (const ProcessSet::Run& run : set->runs()) append(run, bytes);
    }
  }
}

Message read(std::span<const std::byte> bytes, std::uint32_t members, std::size_t operations) {
  ByteReader reader(bytes, refuse);
  const auto header = reader.take<Header>();
  Message message;
  reader.expect(header.kind <= last_kind && header.operation < operations && (header.parts & ~all_parts) == 0 &&
                header.words <= message.tally.value.words.size());
  message.kind = static_cast<Message::Kind>(header.kind);
  message.agreement = reader.take<AgreementId>();
  message.tally.operation = static_cast<Operation>(header.operation);
  message.tally.counted = (header.parts & counted_part) != 0;
  for (std::size_t i = 0; i < header.words; ++i) message.tally.value.words[i] = reader.take<std::uint64_t>();
  reader.expect(header.words == words_used(message.tally.value));
  if (header.parts & returned_part) {
    message.tally.returned = reader.take<IdRange>();
    reader.expect(!message.tally.returned.empty());
  }
  if (header.parts & round_part) {
    message.round = reader.take<Round>();
    message.subtree_first = reader.take<Member>();
    message.subtree_last = reader.take<Member>();
    reader.expect(message.round.count > 0 && message.round.root.value < members &&
                  message.subtree_first.value <= members && message.subtree_last.value < members);
  }
  if (header.parts & sets_part) {
    Sets& sets = message.tally.sets.open();
    sets.members = take_set(reader, members);
    sets.failed = take_set(reader, members);
    sets.acknowledged = take_set(reader, members);
    sets.unacknowledged = take_set(reader, members);
  }
  reader.expect_end();
  return message;
}

}  // namespace mend::agreement
