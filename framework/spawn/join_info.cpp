#include "framework/spawn/join_info.hpp"

#include "base/error.hpp"

#include <nlohmann/json.hpp>

#include <cstring>

namespace mend {
namespace {

using nlohmann::json;

json written(const Placed& placed) { return {placed.process.value, placed.node.value}; }
Placed placed(const json& text) { return {{text.at(0).get<std::uint32_t>()}, {text.at(1).get<std::uint32_t>()}}; }

json written(const Seat& seat) { return {written(seat.holder), seat.predecessors, seat.origin.value}; }
Seat seat(const json& text) { return {placed(text.at(0)), text.at(1).get<int>(), Rank{text.at(2).get<int>()}}; }

json written(const Roster& roster) {
  json text{{"seats", json::array()}, {"spares", json::array()}};
  for (const Seat& one : roster.seats) text["seats"].push_back(written(one));
  for (const Placed& spare : roster.spares) text["spares"].push_back(written(spare));
  return text;
}
Roster roster(const json& text) {
  Roster read;
  for (const json& one : text.at("seats")) read.seats.push_back(seat(one));
  for (const json& spare : text.at("spares")) read.spares.push_back(placed(spare));
  return read;
}

/// Sent as it is, before the acquaintances.
struct Header {
  Standing standing{};
  ProcessId host;
};

}  // namespace

std::string write_join_info(const JoinInfoWords& words) {
  const World& world = words.world;
  json text{{"epoch", world.epoch.value},           {"processes", world.processes}, {"port", words.port},
            {"last_group", words.last_group.value}, {"memories", words.memories},   {"roster", written(world.roster)}};
  for (const ProcessId member : world.members) text["members"].push_back(member.value);
  return text.dump();
}

JoinInfo read_join_info(std::span<const std::byte> bytes) {
  const auto* const begin = reinterpret_cast<const char*>(bytes.data());
  const json text = json::parse(begin, begin + bytes.size());
  JoinInfo join_info;
  join_info.port = text.at("port");
  join_info.last_group = {text.at("last_group").get<std::uint64_t>()};
  join_info.memories = text.at("memories");
  World& world = join_info.world;
  world.epoch = {text.at("epoch").get<std::uint32_t>()};
  world.processes = text.at("processes");
  for (const json& member : text.at("members")) world.members.push_back({member.get<std::uint32_t>()});
  world.roster = roster(text.at("roster"));
  return join_info;
}

std::string write_roster(const Roster& roster) { return written(roster).dump(); }
Roster read_roster(const std::string& text) { return roster(json::parse(text)); }

std::vector<std::byte> write_acquaintances(const std::vector<Acquaintance>& all, Standing standing, ProcessId host) {
  const Header header{standing, host};
  std::vector<std::byte> bytes(sizeof header + all.size() * sizeof(Acquaintance));
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!all.empty()) std::memcpy(bytes.data() + sizeof header, all.data(), all.size() * sizeof(Acquaintance));
  return bytes;
}

Acquaintances read_acquaintances(std::span<const std::byte> bytes) {
  Header header;
  if (bytes.size() < sizeof header || (bytes.size() - sizeof header) % sizeof(Acquaintance) != 0) {
    throw EnvironmentError("the job has said what makes no sense");
  }
  std::memcpy(static_cast<void*>(&header), bytes.data(), sizeof header);
  Acquaintances read{std::vector<Acquaintance>((bytes.size() - sizeof header) / sizeof(Acquaintance)), header.standing,
                     header.host};
  std::memcpy(static_cast<void*>(read.all.data()), bytes.data() + sizeof header, bytes.size() - sizeof header);
  return read;
}

}  // namespace mend
