#include "detector/wire.hpp"

#include "base/byte_reader.hpp"
#include "base/error.hpp"
#include "transport/control/control_network.hpp"

#include <algorithm>

namespace mend::detector {
namespace {

constexpr std::uint8_t mark = 0xd7;  // the first byte of every message of a detector
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

void refuse() { throw EnvironmentError("a message arrived at the failure detector that no detector can have sent"); }

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
  append(Header{mark, static_cast<std::uint8_t>(message.kind), static_cast<std::uint16_t>(runs.size()), message.epoch},
         bytes);
  if (runs.empty()) return;
  append(message.source, bytes);
  for (const ProcessSet::Run& run : runs) append(run, bytes);
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
  ByteReader reader(bytes, refuse);
  const auto header = reader.take<Header>();
  reader.expect(header.mark == mark && header.kind <= last_kind);
  Message message;
  message.kind = static_cast<Message::Kind>(header.kind);
  message.epoch = header.epoch;
  reader.expect(header.runs == 0 ? !needs_list(message.kind) : may_have_list(message.kind));
  if (header.runs > 0) {
    message.source = reader.take<ProcessId>();
    const auto runs = reader.take_all<ProcessSet::Run>(header.runs);
    reader.expect(ProcessSet::are_runs(runs));
    message.dead = ProcessSet::from_runs(runs);
  }
  reader.expect_end();
  return message;
}

}  // namespace mend::detector
