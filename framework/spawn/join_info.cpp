#include "framework/spawn/join_info.hpp"

#include "base/byte_reader.hpp"
#include "base/error.hpp"
#include "framework/reporting/report_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

namespace mend {
namespace {

using nlohmann::json;

[[noreturn]] void refuse() {
  throw EnvironmentError("the job has sent invalid data to this process, which is to join it");
}
void expect(bool valid) {
  if (!valid) refuse();
}

/// Reads a whole number that fits into T. Throws for anything else.
template <class T>
T number(const json& text) {
  expect(text.is_number_integer());
  const bool fits = text.is_number_unsigned() ? std::in_range<T>(text.get<std::uint64_t>())
                                              : std::in_range<T>(text.get<std::int64_t>());
  expect(fits);
  return text.get<T>();
}

/// Parses JSON; refuses text that is nested deeper than a record: its deepest entry is the holder of a seat in a
/// roster.
json parsed(std::string_view text) {
  constexpr int deepest = 8;
  return json::parse(text, [](int depth, json::parse_event_t, json&) {
    expect(depth <= deepest);
    return true;
  });
}

/// Runs `read`, and turns all its errors into EnvironmentError.
template <class Read>
auto understood(Read read) {
  try {
    return read();
  } catch (const json::exception&) {
    refuse();
  }
}

json written(const Placed& placed) { return {placed.process.value, placed.node.value}; }
Placed placed(const json& text) { return {{number<std::uint32_t>(text.at(0))}, {number<std::uint32_t>(text.at(1))}}; }

json written(const Seat& seat) { return {written(seat.holder), seat.predecessors, seat.origin.value}; }
Seat seat(const json& text) { return {placed(text.at(0)), number<int>(text.at(1)), Rank{number<int>(text.at(2))}}; }

json written(const Roster& roster) {
  json text{{"seats", json::array()}, {"spares", json::array()}};
  for (const Seat& one : roster.seats) text["seats"].push_back(written(one));
  for (const Placed& spare : roster.spares) text["spares"].push_back(written(spare));
  return text;
}
/// The roster may only have processes with smaller numbers than `newcomer`.
Roster roster(const json& text, ProcessId newcomer) {
  Roster read;
  for (const json& one : text.at("seats")) read.seats.push_back(seat(one));
  for (const json& spare : text.at("spares")) read.spares.push_back(placed(spare));
  for (const Seat& one : read.seats)
    expect(one.holder.process < newcomer && one.predecessors >= 0 && one.origin.value >= 0);
  for (const Placed& spare : read.spares) expect(spare.process < newcomer);
  return read;
}

json written(const ProcessSet& processes) {
  json text = json::array();
  for (const ProcessId process : processes.members()) text.push_back(process.value);
  return text;
}
/// The set may only have processes with smaller numbers than `end`.
ProcessSet process_set(const json& text, ProcessId end) {
  ProcessSet read;
  for (const json& process : text) {
    read.insert({number<std::uint32_t>(process)});
    expect(number<std::uint32_t>(process) < end.value);
  }
  return read;
}

json written(const JobRecord& record) {
  json text{{"first_size", record.first_size},
            {"committed", record.committed.value},
            {"places", json::array()},
            {"recoveries", write_reports(record.recoveries)},
            {"before", written(record.before)},
            {"dead", written(record.dead)},
            {"unable", written(record.unable)},
            {"started", written(record.started)},
            {"without_commit", record.without_commit},
            {"rounds", record.rounds},
            {"writes_done", record.writes_done},
            {"row", {{"length", record.row.length}, {"ranks", json::array()}}}};
  for (const Rank rank : record.row.ranks) text["row"]["ranks"].push_back(rank.value);
  for (const NodeId place : record.places) text["places"].push_back(place.value);
  return text;
}
JobRecord record(const json& text, ProcessId newcomer) {
  JobRecord read;
  read.first_size = number<int>(text.at("first_size"));
  read.without_commit = number<int>(text.at("without_commit"));
  read.row.length = number<int>(text.at("row").at("length"));
  for (const json& rank : text.at("row").at("ranks")) read.row.ranks.push_back({number<int>(rank)});
  read.rounds = number<int>(text.at("rounds"));
  expect(read.first_size > 0 && read.without_commit >= 0 && read.row.length >= 0 && read.rounds >= 0);
  read.writes_done = number<std::uint32_t>(text.at("writes_done"));
  read.committed = {number<std::uint64_t>(text.at("committed"))};
  for (const json& place : text.at("places")) read.places.push_back({number<std::uint32_t>(place)});
  read.recoveries = read_reports(text.at("recoveries").get<std::string>());
  read.before = roster(text.at("before"), newcomer);
  read.dead = process_set(text.at("dead"), newcomer);
  read.unable = process_set(text.at("unable"), newcomer);
  read.started = process_set(text.at("started"), {newcomer.value + 1});
  return read;
}

/// Returns true if there are processes, in ascending order, all with smaller numbers than `newcomer`.
bool are_before(ProcessId newcomer, const std::vector<ProcessId>& processes) {
  return !processes.empty() && processes.back() < newcomer &&
         std::ranges::adjacent_find(processes, std::ranges::greater_equal{}) == processes.end();
}

bool has_a_name(const DetectorPeer& one) { return std::ranges::find(one.name.job, '\0') != one.name.job.end(); }

/// Sent as raw bytes, before the peers.
struct Header {
  DetectorState state{};
  ProcessId host;
};

}  // namespace

std::string write_join_info(const JoinInfoWords& words) {
  const EpochState& epoch_state = words.epoch_state;
  json text{{"epoch", epoch_state.epoch.value},
            {"processes", epoch_state.processes},
            {"port", words.port},
            {"last_group", words.last_group.value},
            {"record", written(words.record)},
            {"roster", written(epoch_state.roster)}};
  for (const ProcessId member : epoch_state.members) text["members"].push_back(member.value);
  return text.dump();
}

JoinInfo read_join_info(std::span<const std::byte> bytes, ProcessId newcomer) {
  const std::string_view said(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return understood([&] {
    const json text = parsed(said);
    JoinInfo join_info;
    join_info.port = text.at("port").get<std::string>();
    join_info.last_group = {number<std::uint64_t>(text.at("last_group"))};
    join_info.record = record(text.at("record"), newcomer);
    EpochState& epoch_state = join_info.epoch_state;
    epoch_state.epoch = {number<std::uint32_t>(text.at("epoch"))};
    epoch_state.processes = number<std::uint32_t>(text.at("processes"));
    expect(epoch_state.processes > newcomer.value && epoch_state.processes - 1 == newcomer.value);
    for (const json& member : text.at("members")) epoch_state.members.push_back({number<std::uint32_t>(member)});
    expect(are_before(newcomer, epoch_state.members));
    epoch_state.roster = roster(text.at("roster"), newcomer);
    return join_info;
  });
}

std::vector<std::byte> write_peers(const std::vector<DetectorPeer>& all, DetectorState state, ProcessId host) {
  std::vector<std::byte> bytes;
  append(Header{state, host}, bytes);
  for (const DetectorPeer& one : all) append(one, bytes);
  return bytes;
}

DetectorPeers read_peers(std::span<const std::byte> bytes, ProcessId newcomer) {
  ByteReader reader(bytes, refuse);
  const auto header = reader.take<Header>();
  DetectorPeers read{reader.take_all<DetectorPeer>(reader.left().size() / sizeof(DetectorPeer)), header.state,
                     header.host};
  reader.expect_end();

  std::vector<ProcessId> processes;
  for (const DetectorPeer& one : read.all) processes.push_back(one.process);
  expect(are_before(newcomer, processes) && std::ranges::find(processes, read.host) != processes.end());
  expect(std::ranges::all_of(read.all, has_a_name) && read.state.timeout > detector::Time{0});
  return read;
}

Admission read_admission(std::span<const std::byte> bytes) {
  constexpr std::uint32_t most_steps = 1U << 20;  // a recovery takes far fewer
  ByteReader reader(bytes, refuse);
  const auto admission = reader.take<Admission>();
  reader.expect_end();
  expect(admission.step % 2 == 0 && admission.step <= most_steps);
  return admission;
}

bool introduces(const DetectorPeer& who, ProcessId process, const detector::LocalIdentity& identity) {
  return who.process == process && who.peer.identity == identity && has_a_name(who);
}

}  // namespace mend
