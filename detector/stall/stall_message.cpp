#include "detector/stall/stall_message.hpp"

#include "base/byte_reader.hpp"
#include "base/error.hpp"
#include "detector/wire_rank.hpp"

namespace mend::detector {
namespace {

constexpr std::uint8_t stall_mark = 0xd8;  // the failure detector's messages begin with another byte

struct Layout {
  std::uint8_t mark;
  std::uint8_t kind;
  std::uint8_t place;
  std::uint8_t call;
  std::uint32_t round;
  std::uint64_t visit;
  std::int32_t rank;
  std::uint32_t waited_ms;
  std::uint32_t held_ms;
  std::uint32_t polled_ms;
  std::uint32_t is_idle;
  std::uint32_t has_gone_back;
  std::uint32_t stage;
  std::uint32_t step;
};
static_assert(sizeof(Layout) == 48 && std::has_unique_object_representations_v<Layout>);

}  // namespace

bool is_about_stalls(std::span<const std::byte> bytes) {
  return !bytes.empty() && bytes.front() == std::byte{stall_mark};
}

void write(const StallMessage& message, std::vector<std::byte>& bytes) {
  const Whereabouts& where = message.where;
  const Layout layout{stall_mark,
                      static_cast<std::uint8_t>(message.kind),
                      static_cast<std::uint8_t>(where.place),
                      static_cast<std::uint8_t>(where.call),
                      message.round,
                      where.visit,
                      number_of(where.rank),
                      static_cast<std::uint32_t>(where.waited.count()),
                      static_cast<std::uint32_t>(where.held.count()),
                      static_cast<std::uint32_t>(where.polled.count()),
                      static_cast<std::uint32_t>(where.is_idle),
                      static_cast<std::uint32_t>(where.has_gone_back),
                      where.turn.stage,
                      where.turn.step};
  append(layout, bytes);
}

StallMessage read_stall_message(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, [] {
    throw EnvironmentError("a message about waiting ranks arrived that no control thread can have sent");
  });
  const auto layout = reader.take<Layout>();
  reader.expect_end();
  reader.expect(layout.mark == stall_mark && layout.call <= static_cast<std::uint8_t>(last_mpi_call) &&
                layout.kind <= static_cast<std::uint8_t>(StallMessage::last_kind) &&
                layout.place <= static_cast<std::uint8_t>(last_place) && layout.rank >= no_rank &&
                layout.is_idle <= 1 && layout.has_gone_back <= 1);
  return {static_cast<StallMessage::Kind>(layout.kind),
          layout.round,
          {static_cast<Place>(layout.place), rank_of_number(layout.rank), std::chrono::milliseconds(layout.waited_ms),
           layout.visit, static_cast<MpiCall>(layout.call), std::chrono::milliseconds(layout.held_ms),
           Turn{layout.stage, layout.step}, layout.is_idle != 0, layout.has_gone_back != 0,
           std::chrono::milliseconds(layout.polled_ms)}};
}

}  // namespace mend::detector
