#include "detector/wire.hpp"

#include "base/error.hpp"
#include "transport/control_network.hpp"

#include <algorithm>
#include <cstring>

namespace mend::detector {
namespace {

constexpr std::uint8_t mark = 0xd7;  // every message of a detector begins with it
constexpr auto last_kind = static_cast<std::uint8_t>(Message::Kind::withdrawal);

constexpr std::size_t most_runs = 0xffff;

struct Header {
  std::uint8_t mark;
  std::uint8_t kind;
  std::uint16_t runs;
  Epoch epoch;
};
static_assert(sizeof(Header) == 8);
static_assert(sizeof(Header) + sizeof(ProcessId) + most_runs * sizeof(ProcessSet::Run) <=
              transport::ControlNetwork::longest_message);

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

}  // namespace

ByteCount wire_size(const Message& message) {
  if (message.dead.empty()) return sizeof(Header);
  return sizeof(Header) + sizeof(ProcessId) + message.dead.runs().size() * sizeof(ProcessSet::Run);
}

void write(const Message& message, std::vector<std::byte>& bytes) {
  const auto runs = message.dead.runs();
  if (runs.size() > most_runs) throw UsageError("a list of deaths is too long for one message: split it");
  put(Header{mark, static_cast<std::uint8_t>(message.kind), static_cast<std::uint16_t>(runs.size()), message.epoch},
      bytes);
  if (runs.empty()) return;
  put(message.source, bytes);
  for (const ProcessSet::Run& run : runs) put(run, bytes);
}

std::vector<Message> split(const Message& message) {
  const auto runs = message.dead.runs();
  if (runs.size() <= most_runs) return {message};
  std::vector<Message> parts;
  for (std::size_t from = 0; from < runs.size(); from += most_runs) {
    const auto some = runs.subspan(from, std::min(most_runs, runs.size() - from));
    parts.push_back({message.kind, message.epoch, message.source, ProcessSet::from_runs(some)});
  }
  return parts;
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
    while (!bytes.empty()) runs.push_back(take<ProcessSet::Run>(bytes));
    if (!ProcessSet::are_runs(runs)) fail();
    message.dead = ProcessSet::from_runs(runs);
  }
  if (!bytes.empty()) fail();
  return message;
}

}  // namespace mend::detector
