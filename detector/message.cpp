#include "detector/message.hpp"

#include <fmt/format.h>

namespace mend::detector {

std::string to_string(const Message& message) {
  const auto named = [&](const char* name) { return fmt::format("{}({})", name, message.dead.to_string()); };
  switch (message.kind) {
    case Message::Kind::heartbeat: return message.dead.empty() ? "HEARTBEAT" : named("HEARTBEAT");
    case Message::Kind::new_observer: return "NEWOBSERVER";
    case Message::Kind::deaths:
      return fmt::format("DEATHS({}, from {})", message.dead.to_string(), message.source.value);
    case Message::Kind::fence: return "FENCE";
    case Message::Kind::inquiry: return named("INQUIRY");
    case Message::Kind::answer: return named("ANSWER");
    case Message::Kind::withdrawal: return named("WITHDRAWAL");
  }
  return "?";
}

void add_to(transport::Fingerprint& print, const ProcessSet& set) {
  print.add(set.runs().size());
  for (const ProcessSet::Run& run : set.runs()) print.add(std::uint64_t{run.first.value} << 32U | run.last.value);
}

void add_to(transport::Fingerprint& print, const Message& message) {
  print.add(static_cast<std::uint64_t>(message.kind));
  print.add(message.epoch.value);
  print.add(message.source.value);
  add_to(print, message.dead);
}

}  // namespace mend::detector
