#include "detector/status/status_message.hpp"

#include "base/byte_reader.hpp"
#include "base/error.hpp"
#include "detector/wire_rank.hpp"

#include <algorithm>
#include <array>

namespace mend::detector {
namespace {

constexpr std::uint8_t status_mark = 0xd9;  // the messages of the ring and about stalls begin with other bytes
constexpr std::int64_t no_commit = -1;

struct StatusHeader {
  std::uint8_t mark;
  std::uint8_t is_answer;
  std::uint16_t unused;
  std::uint32_t look;
};

struct StateLayout {
  std::int32_t pid;
  std::int32_t rank;
  std::uint32_t epoch;
  std::uint8_t place;
  std::uint8_t call;
  std::uint8_t disk;
  std::uint8_t unused;
  std::uint64_t version;
  std::int64_t since_commit_us;
  std::uint64_t disk_version;
  std::uint64_t store_bytes;
  std::uint64_t resident_bytes;
  std::int64_t since_place_us;
  std::array<char, 64> machine;
};
static_assert(std::has_unique_object_representations_v<StatusHeader> &&
              std::has_unique_object_representations_v<StateLayout>);

StateLayout layout_of(const ProcessState& state) {
  StateLayout layout{state.pid,
                     number_of(state.rank),
                     state.epoch,
                     static_cast<std::uint8_t>(state.place),
                     static_cast<std::uint8_t>(state.call),
                     static_cast<std::uint8_t>(state.disk),
                     0,
                     state.version,
                     state.since_commit ? state.since_commit->count() : no_commit,
                     state.disk_version,
                     state.store_bytes,
                     state.resident_bytes,
                     state.since_place.count(),
                     {}};
  state.machine.copy(layout.machine.data(), layout.machine.size() - 1);
  return layout;
}

ProcessState state_of(const StateLayout& layout) {
  using std::chrono::microseconds;
  return {layout.pid,
          rank_of_number(layout.rank),
          layout.epoch,
          layout.version,
          layout.since_commit_us == no_commit ? std::nullopt : std::optional(microseconds(layout.since_commit_us)),
          layout.disk_version,
          layout.store_bytes,
          layout.resident_bytes,
          static_cast<DiskUse>(layout.disk),
          static_cast<Place>(layout.place),
          microseconds(layout.since_place_us),
          static_cast<MpiCall>(layout.call),
          layout.machine.data()};
}

}  // namespace

bool is_about_status(std::span<const std::byte> bytes) {
  return !bytes.empty() && bytes.front() == std::byte{status_mark};
}

void write(const StatusMessage& message, std::vector<std::byte>& bytes) {
  append(StatusHeader{status_mark, message.state ? std::uint8_t{1} : std::uint8_t{0}, 0, message.look}, bytes);
  if (message.state) append(layout_of(*message.state), bytes);
}

StatusMessage read_status_message(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, [] {
    throw EnvironmentError("a message about the state of a process arrived that no control thread can have sent");
  });
  const auto header = reader.take<StatusHeader>();
  reader.expect(header.mark == status_mark && header.is_answer <= 1 && header.unused == 0);
  StatusMessage message{header.look, std::nullopt};
  if (header.is_answer == 1) {
    const auto layout = reader.take<StateLayout>();
    reader.expect(layout.call <= static_cast<std::uint8_t>(last_mpi_call) && layout.rank >= no_rank &&
                  layout.place <= static_cast<std::uint8_t>(last_place) &&
                  layout.disk <= static_cast<std::uint8_t>(last_disk_use) && layout.since_commit_us >= no_commit &&
                  layout.since_place_us >= 0 && std::ranges::find(layout.machine, '\0') != layout.machine.end());
    message.state = state_of(layout);
  }
  reader.expect_end();
  return message;
}

}  // namespace mend::detector
