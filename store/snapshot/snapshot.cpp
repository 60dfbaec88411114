#include "store/snapshot/snapshot.hpp"

#include "base/error.hpp"
#include "store/snapshot/hash.hpp"
#include "store/snapshot/snapshot_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace mend {

using namespace snapshot_format;

namespace {

static_assert(Member::bytes_of_pieces % page_bytes == 0);

struct Entry {
  std::string_view name;
  std::string_view shape;
  std::span<const std::byte> data;
  std::span<const std::byte> hashed;  ///< data and its padding of zeros
  std::size_t first_page;
};

template <class T>
std::optional<T> read_at(std::span<const std::byte> bytes, ByteCount offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view text_at(std::span<const std::byte> bytes, ByteCount offset, ByteCount size) {
  return {reinterpret_cast<const char*>(bytes.data()) + offset, size};
}

/// A readable snapshot: its header and directory are sound.
class Reading {
 public:
  static std::optional<Reading> of(std::span<const std::byte> bytes) {
    Reading reading;
    return reading.read(bytes) ? std::optional(std::move(reading)) : std::nullopt;
  }

  const Header& header() const { return header_; }
  const std::vector<Entry>& entries() const { return entries_; }
  /// Returns true if a page of an entry matches its hash.
  bool is_sound(const Entry& entry, std::size_t page) const {
    const ByteCount place = outline_.hashes_begin + (entry.first_page + page) * sizeof(std::uint64_t);
    return hash_of(page_of(entry.hashed, page)) == *read_at<std::uint64_t>(bytes_, place);
  }

 private:
  bool read(std::span<const std::byte> bytes) {
    const auto header = read_at<Header>(bytes, 0);
    if (!header || header->magic != magic || header->header_hash != hash_of_header(*header)) return false;
    if (header->total_bytes != bytes.size() || header->directory_bytes > bytes.size() - sizeof(Header)) return false;
    bytes_ = bytes;
    header_ = *header;
    return read_entries(bytes.subspan(sizeof(Header), header->directory_bytes)) &&
           outline_.data_begin <= bytes.size() &&
           hash_of(bytes.subspan(sizeof(Header), outline_.data_begin - sizeof(Header))) == header->directory_hash;
  }

  bool read_entries(std::span<const std::byte> directory) {
    ByteCount at = 0;
    std::size_t pages = 0;
    for (std::uint64_t i = 0; i < header_.member_count; ++i) {
      const auto head = read_at<EntryHead>(directory, at);
      if (!head) return false;
      at += sizeof(EntryHead);
      if (ByteCount{head->name_bytes} + head->shape_bytes > directory.size() - at) return false;
      if (head->size > bytes_.size() || head->offset > bytes_.size() ||
          align(head->size) > bytes_.size() - head->offset)
        return false;
      entries_.push_back(
          {text_at(directory, at, head->name_bytes), text_at(directory, at + head->name_bytes, head->shape_bytes),
           bytes_.subspan(head->offset, head->size), bytes_.subspan(head->offset, align(head->size)), pages});
      at += head->name_bytes + head->shape_bytes;
      pages += page_count(align(head->size));
    }
    outline_ = Outline(header_.directory_bytes, pages);
    return true;
  }

  std::span<const std::byte> bytes_;
  Header header_{};
  Outline outline_{0, 0};
  std::vector<Entry> entries_;
};

/// Returns a member whose size will be asked for. Its packing ends with the last copy of the result.
std::shared_ptr<const Member> until_packed(const std::shared_ptr<Member>& member) {
  return {member.get(), [member](const Member* packed) { packed->end_pack(); }};
}

/// Writes one snapshot.
class Packing {
 public:
  explicit Packing(const Members& members) {
    ByteCount directory_bytes = 0;
    std::size_t pages = 0;
    for (const auto& [name, member] : members) {
      Planned& planned = planned_.emplace_back(Planned{name, until_packed(member), {}, 0, 0});
      planned.shape = member->shape();
      planned.size = member->size();
      directory_bytes += entry_bytes(name, planned.shape);
      pages += page_count(align(planned.size));
    }
    outline_ = Outline(directory_bytes, pages);
    total_ = outline_.data_begin;
    for (Planned& planned : planned_) {
      planned.offset = total_;
      total_ += align(planned.size);
    }
    write_directory(directory_bytes);
  }

  Changes into(Bytes& snapshot, Rank owner, Version version, bool over_older, const WrittenSince& written) {
    const bool same = over_older && snapshot.size() == total_ &&
                      std::ranges::equal(std::span(snapshot).subspan(sizeof(Header), directory_.size()), directory_) &&
                      has_sound_directory(snapshot);
    resize_block(snapshot, total_);
    bytes_ = snapshot;
    changes_ = {!same, {}, {}};
    std::ranges::copy(directory_, bytes_.subspan(sizeof(Header)).begin());
    hashes_.assign(outline_.data_begin - outline_.hashes_begin, std::byte{});
    if (same) std::ranges::copy(bytes_.subspan(outline_.hashes_begin, hashes_.size()), hashes_.begin());
    add_range(changes_.ranges, {0, outline_.data_begin});

    std::size_t page = 0;
    for (const Planned& planned : planned_) {
      const auto known = written.find(planned.name);
      const std::vector<ByteRange> all{{0, planned.size}};
      changes_.of_members.push_back(write(planned, page, same && known != written.end() ? known->second : all));
      page += page_count(planned.size);
    }
    std::ranges::copy(hashes_, bytes_.subspan(outline_.hashes_begin).begin());
    write_header(bytes_, outline_, owner, version, planned_.size(), directory_bytes_);
    return std::move(changes_);
  }

 private:
  struct Planned {
    std::string_view name;
    std::shared_ptr<const Member> member;
    std::string shape;
    ByteCount size;
    ByteCount offset;
  };

  void write_directory(ByteCount directory_bytes) {
    directory_.resize(outline_.hashes_begin - sizeof(Header));
    directory_bytes_ = directory_bytes;
    std::byte* at = directory_.data();
    for (const Planned& planned : planned_)
      at = write_entry(at, planned.name, planned.shape, planned.offset, planned.size);
  }

  /// Writes the pages of one member that have bytes in these ranges, and their hashes. Returns the number of changed
  /// bytes.
  ByteCount write(const Planned& planned, std::size_t first_page, std::span<const ByteRange> ranges) {
    const std::span<std::byte> place = bytes_.subspan(planned.offset, align(planned.size));
    std::memset(place.data() + planned.size, 0, place.size() - planned.size);
    ByteCount changed = 0;
    const auto write_page = [&](std::size_t page, std::span<const std::byte> source) {
      const std::span<std::byte> to = page_of(place, page);
      const auto from = page_source(source, to);
      if (!note_hash(first_page + page, hash_of(from))) return;
      if (from.data() != to.data()) copy_page(from, to, planned.size);
      const ByteCount begin = planned.offset + page * page_bytes;
      add_range(changes_.ranges, {begin, begin + to.size()});
      changed += to.size();
    };

    std::size_t next = 0;
    const bool came_in_pieces = planned.member->pack_pieces([&](std::span<const std::byte> piece) {
      for (; !piece.empty(); piece = piece.subspan(std::min(page_bytes, piece.size()))) write_page(next++, piece);
    });
    if (came_in_pieces) return changed;

    auto source = planned.member->contiguous();
    if (source.size() != planned.size) {
      planned.member->pack(place.first(planned.size));
      source = place;
    }
    for (const ByteRange& range : ranges) {
      for (next = std::max<std::size_t>(next, range.begin / page_bytes); next < page_count(range.end); ++next)
        write_page(next, source.subspan(next * page_bytes));
    }
    return changed;
  }

  /// Returns the content of page `to`, which is at the beginning of `source`. If the content fills the page, it is
  /// hashed in `source`: then an unchanged page is not copied, and a changed one is copied from the cache.
  static std::span<const std::byte> page_source(std::span<const std::byte> source, std::span<std::byte> to) {
    if (to.size() <= source.size()) return source.first(to.size());
    std::memcpy(to.data(), source.data(), source.size());
    return to;
  }

  /// Stores the hash of a page. Returns true if the page has changed.
  bool note_hash(std::size_t page, std::uint64_t hash) {
    std::byte* at = hashes_.data() + page * sizeof hash;
    if (!changes_.everything && std::memcmp(at, &hash, sizeof hash) == 0) return false;
    std::memcpy(at, &hash, sizeof hash);
    return true;
  }

  std::vector<Planned> planned_;
  Outline outline_{0, 0};
  ByteCount total_ = 0;
  ByteCount directory_bytes_ = 0;
  std::vector<std::byte> directory_;  // the bytes between header and hashes
  std::vector<std::byte> hashes_;     // the bytes between directory and data
  std::span<std::byte> bytes_;
  Changes changes_;
};

/// Reads a snapshot that may be damaged.
class Checking {
 public:
  Checking(std::span<const std::byte> snapshot, Rank owner, Version version) : reading_(Reading::of(snapshot)) {
    if (!reading_) {
      problem_ = "its directory is corrupt";
    } else if (reading_->header().owner != owner.value || reading_->header().version != version.value) {
      problem_ = fmt::format("it is rank {}'s at version {}", reading_->header().owner, reading_->header().version);
    }
  }

  bool is_readable() const { return !problem_; }

  std::optional<std::string> damage() const {
    if (problem_) return problem_;
    for (const Entry& entry : reading_->entries()) {
      if (!is_sound(entry)) return describe(entry);
    }
    return std::nullopt;
  }

  /// The snapshot must be readable.
  std::optional<std::string> unpack(const Members& members) const {
    require_all(members);
    for (const Entry& entry : reading_->entries()) {
      const auto member = members.find(entry.name);
      if (!(member == members.end() ? is_sound(entry) : unpack(entry, *member->second))) return describe(entry);
    }
    return std::nullopt;
  }

 private:
  static std::string describe(const Entry& entry) { return fmt::format("member '{}' is corrupt", entry.name); }

  void require_all(const Members& members) const {
    for (const auto& [name, member] : members) {
      const auto& entries = reading_->entries();
      const auto entry = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
      if (entry == entries.end()) {
        throw UsageError(
            fmt::format("member '{}' is protected now but was not when version {} was committed: protect the "
                        "same members before restore as before commit",
                        name, reading_->header().version));
      }
      if (entry->shape != member->shape()) {
        throw UsageError(
            fmt::format("member '{}' is protected as {} but was committed as {}: restore needs the same shape", name,
                        member->shape(), entry->shape));
      }
    }
  }

  bool is_sound(const Entry& entry) const {
    for (std::size_t page = 0; page < page_count(entry.hashed.size()); ++page) {
      if (!reading_->is_sound(entry, page)) return false;
    }
    return true;
  }

  /// Checks and copies page by page, so that a page is copied from the cache after it was hashed.
  bool unpack(const Entry& entry, Member& member) const {
    bool sound = true;
    std::size_t next = 0;
    const auto fill = [&](std::span<std::byte> place) {
      for (; !place.empty() && sound; ++next) {
        const auto from = page_of(entry.data, next);
        sound = reading_->is_sound(entry, next);
        if (sound) copy_page(from, place.first(from.size()), entry.data.size());
        place = place.subspan(from.size());
      }
      return sound;
    };
    if (member.unpack_pieces(entry.data.size(), fill)) return sound;

    const std::span<std::byte> place = member.place_for(entry.data.size());
    if (!place.empty() && place.size() == entry.data.size()) return fill(place);
    if (!is_sound(entry)) return false;
    member.unpack(entry.data);
    return true;
  }

  std::optional<Reading> reading_;
  std::optional<std::string> problem_;
};

}  // namespace

Pack prepare(const Members& members) {
  return [packing = std::make_shared<Packing>(members)](Rank owner, Version version, Bytes& snapshot, bool over_older,
                                                        const WrittenSince& written) {
    return packing->into(snapshot, owner, version, over_older, written);
  };
}

bool has_sound_directory(std::span<const std::byte> snapshot) { return Reading::of(snapshot).has_value(); }

bool is_sound(std::span<const std::byte> snapshot, std::span<const ByteRange> ranges) {
  const auto reading = Reading::of(snapshot);
  if (!reading) return false;
  for (const Entry& entry : reading->entries()) {
    const auto first = static_cast<ByteCount>(entry.hashed.data() - snapshot.data());
    std::size_t next = 0;
    for (const ByteRange& range : ranges) {
      if (range.end <= first || range.begin >= first + entry.hashed.size()) continue;
      const std::size_t last = page_count(std::min(range.end - first, entry.hashed.size()));
      for (next = std::max<std::size_t>(next, (std::max(range.begin, first) - first) / page_bytes); next < last;
           ++next) {
        if (!reading->is_sound(entry, next)) return false;
      }
    }
  }
  return true;
}

std::optional<std::string> find_damage(std::span<const std::byte> snapshot, Rank owner, Version version) {
  return Checking(snapshot, owner, version).damage();
}

std::vector<PackedMember> members_of(std::span<const std::byte> snapshot) {
  const auto reading = Reading::of(snapshot);
  if (!reading) throw DataLoss("a snapshot is corrupt");
  std::vector<PackedMember> members;
  for (const Entry& entry : reading->entries()) members.push_back({entry.name, entry.shape, entry.data});
  return members;
}

Parts parts_of(const Members& members) {
  Parts parts;
  for (const auto& [name, member] : members) {
    if (auto part = parse_array_part(member->shape())) parts[name] = std::move(*part);
  }
  return parts;
}

Parts parts_of(std::span<const std::byte> snapshot) {
  Parts parts;
  for (const PackedMember& member : members_of(snapshot)) {
    if (auto part = parse_array_part(member.shape)) parts[std::string(member.name)] = std::move(*part);
  }
  return parts;
}

std::optional<std::string> unpack(std::span<const std::byte> snapshot, Rank owner, Version version,
                                  const Members& members) {
  const Checking checking(snapshot, owner, version);
  return checking.is_readable() ? checking.unpack(members) : checking.damage();
}

}  // namespace mend
