#include "detector/wire.hpp"

#include "base/error.hpp"

#include <cstring>

namespace mend::detector {
namespace {

constexpr std::uint8_t mark = 0xd7;  // every message of a detector begins with it
constexpr auto last_kind = static_cast<std::uint8_t>(Message::Kind::withdrawal);

struct Header {
  std::uint8_t mark;
  std::uint8_t kind;
  std::uint16_t runs;
  Epoch epoch;
};
static_assert(sizeof(Header) == 8);

template <class T>
void put(const T& object, std::vector<std::byte>& bytes) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &object, sizeof(T));
}

[[noreturn]] void fail() {
  throw EnvironmentError("a message arrived at the failure detector that no detector can have sent");
}

template <class T>
T take(std::span<const std::byte>& bytes) {
  if (bytes.size() < sizeof(T)) fail();
  T object;
  std::memcpy(&object, bytes.data(), sizeof(T));
  bytes = bytes.subspan(sizeof(T));
  return object;
}

bool needs_list(Message::Kind kind) {
  switch (kind) {
    case Message::Kind::heartbeat:
    case Message::Kind::new_observer:
    case Message::Kind::fence: return false;
    default: return true;
  }
}

bool may_have_list(Message::Kind kind) { return needs_list(kind) || kind == Message::Kind::heartbeat; }

/// Whether `next` may stand after `last` in a set: ascending, and with a gap between.
bool in_order(const ProcessSet::Run* last, const ProcessSet::Run& next) {
  if (next.last < next.first) return false;
  return last == nullptr || std::uint64_t{last->last.value} + 1 < next.first.value;
}

}  // namespace

ByteCount wire_size(const Message& message) {
  if (message.dead.empty()) return sizeof(Header);
  return sizeof(Header) + sizeof(ProcessId) + message.dead.runs().size() * sizeof(ProcessSet::Run);
}

void write(const Message& message, std::vector<std::byte>& bytes) {
  const auto runs = message.dead.runs();
  if (runs.size() > 0xffff) throw UsageError("too many deaths for one message: begin an epoch without the dead");
  put(Header{mark, static_cast<std::uint8_t>(message.kind), static_cast<std::uint16_t>(runs.size()), message.epoch},
      bytes);
  if (runs.empty()) return;
  put(message.source, bytes);
  for (const ProcessSet::Run& run : runs) put(run, bytes);
}

Message read(std::span<const std::byte> bytes) {
  const auto header = take<Header>(bytes);
  if (header.mark != mark || header.kind > last_kind) fail();
  Message message;
  message.kind = static_cast<Message::Kind>(header.kind);
  message.epoch = header.epoch;
  if (header.runs == 0 ? needs_list(message.kind) : !may_have_list(message.kind)) fail();
  if (header.runs > 0) {
    message.source = take<ProcessId>(bytes);
    if (bytes.size() != header.runs * sizeof(ProcessSet::Run)) fail();
    std::vector<ProcessSet::Run> runs;
    runs.reserve(header.runs);
    while (!bytes.empty()) {
      const auto run = take<ProcessSet::Run>(bytes);
      if (!in_order(runs.empty() ? nullptr : &runs.back(), run)) fail();
      runs.push_back(run);
    }
    message.dead = ProcessSet::from_runs(runs);
  }
  if (!bytes.empty()) fail();
  return message;
}

}  // namespace mend::detector
