#include "fenix/data/snapshot/image.hpp"

#include "base/byte_reader.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace mend::fenix {
namespace {

constexpr int record_id = -1;  // no member has this number
constexpr std::size_t line = 64;
constexpr std::size_t least_record = 1024;

struct Root {
  std::uint64_t offset;
  std::uint64_t size;
};

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

/// Returns true if the existing places have room for these members, and not much more room than they need.
bool Image::fits(const Sizes& members) const {
  std::size_t needed = 0;
  for (const auto& [id, bytes] : members) {
    const auto place = places_.find(id);
    if (place == places_.end() || place->second.room < bytes) return false;
    needed += bytes;
  }
  return places_.contains(record_id) && end_ / 2 <= needed + (std::size_t{64} << 10);
}

void Image::begin(const Sizes& members) {
  if (!fits(members)) {
    places_.clear();
    end_ = line;
    places_[record_id] = new_place(std::max(least_record, 128 * members.size()));
    for (const auto& [id, bytes] : members) places_[id] = new_place(bytes);
  }
  parts_ = &begin_(end_);
}

Image::Place Image::new_place(std::size_t room) {
  const std::size_t offset = round_up(end_, room >= page_bytes ? page_bytes : line);
  end_ = round_up(offset + room, line);
  return {offset, end_ - offset};
}

/// Adds an eighth to a place that grows, because a member that grows is likely to grow again.
void Image::make_room(int id, std::size_t bytes) {
  const auto known = places_.find(id);
  if (known != places_.end() && known->second.room >= bytes) return;
  const std::size_t had = known != places_.end() ? known->second.room : 0;
  const Place place = new_place(had == 0 ? bytes : bytes + bytes / 8);
  std::vector<std::byte> kept(had);
  if (had > 0) std::ranges::copy(at(known->second.offset, had), kept.begin());
  parts_->resize(end_);
  parts_->write(place.offset, kept);
  places_[id] = place;
}

void Image::write(int id, std::size_t at, std::span<const std::byte> from) {
  parts_->write(places_.at(id).offset + at, from);
}

void Image::clear(int id, std::size_t begin, std::size_t end) {
  const std::size_t offset = places_.at(id).offset;
  parts_->clear({offset + begin, offset + end});
}

void Image::write_record(std::span<const std::byte> record) {
  make_room(record_id, record.size());
  write(record_id, 0, record);
  const Root root{places_.at(record_id).offset, record.size()};
  parts_->write(0, std::as_bytes(std::span(&root, 1)));
}

std::span<const std::byte> Image::at(std::size_t offset, std::size_t bytes) const {
  return std::span<const std::byte>(parts_->data()).subspan(offset, bytes);
}

std::span<const std::byte> record_in(std::span<const std::byte> image) {
  ByteReader reader(image,
                    [] { throw EnvironmentError("what was kept of a Fenix data group is shorter than it says"); });
  const auto root = reader.take<Root>();
  reader.expect(root.offset <= image.size() && root.size <= image.size() - root.offset);
  return image.subspan(root.offset, root.size);
}

}  // namespace mend::fenix
