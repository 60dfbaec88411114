#include "fenix/data/snapshot/archive.hpp"

#include "base/byte_reader.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace mend::fenix {
namespace {

/// Types that have the same meaning in every process; others are known by the size of their elements alone.
const auto& named_types() {
  // clang-format off
  static const std::array types{
      MPI_CHAR, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_BYTE, MPI_WCHAR, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_INT,
      MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG, MPI_FLOAT, MPI_DOUBLE,
      MPI_LONG_DOUBLE, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T,
      MPI_UINT64_T, MPI_C_BOOL, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_AINT, MPI_OFFSET, MPI_COUNT};
  // clang-format on
  return types;
}

std::uint64_t code_of(MPI_Datatype type) {
  const auto& types = named_types();
  return static_cast<std::uint64_t>(std::find(types.begin(), types.end(), type) - types.begin());
}

MPI_Datatype type_of(std::uint64_t code) {
  return code < named_types().size() ? named_types()[code] : MPI_DATATYPE_NULL;
}

/// Writes bytes, or only counts them.
class Writer {
 public:
  explicit Writer(std::byte* at) : at_(at) {}
  void number(std::uint64_t value) { bytes(std::as_bytes(std::span(&value, 1))); }
  void bytes(std::span<const std::byte> from) {
    if (at_ != nullptr && !from.empty()) std::memcpy(at_ + size_, from.data(), from.size());
    size_ += from.size();
  }
  std::size_t size() const { return size_; }

 private:
  std::byte* at_;
  std::size_t size_ = 0;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> from)
      : bytes_(from, [] { throw EnvironmentError("what was kept of a Fenix data group is shorter than it says"); }) {}
  std::uint64_t number() { return bytes_.take<std::uint64_t>(); }
  std::span<const std::byte> take(std::size_t size) { return bytes_.take(size); }

 private:
  ByteReader bytes_;
};

void put(Writer& to, const std::vector<Definition>& definitions) {
  to.number(definitions.size());
  for (const Definition& definition : definitions) {
    to.number(static_cast<std::uint64_t>(definition.id));
    to.number(definition.count);
    to.number(definition.element_bytes);
    to.number(definition.gap);
    to.number(code_of(definition.datatype.get()));
    to.number(static_cast<std::uint64_t>(definition.since));
  }
}

std::vector<Definition> get_definitions(Reader& from) {
  std::vector<Definition> definitions;
  for (std::uint64_t left = from.number(); left > 0; --left) {
    Definition& definition = definitions.emplace_back();
    definition.id = static_cast<int>(from.number());
    definition.count = from.number();
    definition.element_bytes = from.number();
    definition.gap = from.number();
    definition.datatype = ElementType(type_of(from.number()));
    definition.since = static_cast<int>(from.number());
  }
  return definitions;
}

void put(Writer& to, const Regions& regions) {
  to.number(regions.all().size());
  for (const Region& region : regions.all()) {
    to.number(region.begin);
    to.number(region.end);
  }
}

Regions get_regions(Reader& from) {
  Regions regions;
  for (std::uint64_t left = from.number(); left > 0; --left) {
    const std::uint64_t begin = from.number();
    regions.add({begin, from.number()});
  }
  return regions;
}

void put(Writer& to, const Record& record) {
  to.number(static_cast<std::uint64_t>(record.time_stamp));
  to.number(record.older.size());
  for (const KeptBeside& older : record.older) {
    to.number(static_cast<std::uint64_t>(older.time_stamp));
    to.number(older.version.value);
  }
  put(to, record.definitions);
  to.number(record.members.size());
  for (const RecordedMember& member : record.members) {
    to.number(static_cast<std::uint64_t>(member.id));
    to.number(member.offset);
    to.number(member.bytes);
    put(to, member.known);
    put(to, member.fresh);
    to.number(member.is_fresh ? 1 : 0);
  }
}

/// Returns the bytes that put(writer) writes.
template <class Put>
Bytes written(const Put& put) {
  Writer counter(nullptr);
  put(counter);
  Bytes bytes(counter.size());
  Writer writer(bytes.data());
  put(writer);
  return bytes;
}

}  // namespace

Bytes write(const Record& record) {
  return written([&](Writer& to) { put(to, record); });
}

Record read_record(std::span<const std::byte> from) {
  Reader reader(from);
  Record record;
  record.time_stamp = static_cast<int>(reader.number());
  for (std::uint64_t left = reader.number(); left > 0; --left) {
    const int time_stamp = static_cast<int>(reader.number());
    record.older.push_back({time_stamp, Version{reader.number()}});
  }
  record.definitions = get_definitions(reader);
  for (std::uint64_t left = reader.number(); left > 0; --left) {
    RecordedMember& member = record.members.emplace_back();
    member.id = static_cast<int>(reader.number());
    member.offset = reader.number();
    member.bytes = reader.number();
    member.known = get_regions(reader);
    member.fresh = get_regions(reader);
    member.is_fresh = reader.number() != 0;
  }
  return record;
}

Bytes write_definitions(const std::vector<Definition>& definitions) {
  return written([&](Writer& to) { put(to, definitions); });
}

std::vector<Definition> read_definitions(std::span<const std::byte> from) {
  Reader reader(from);
  return get_definitions(reader);
}

Bytes write_elements(const Elements& elements) {
  return written([&](Writer& to) {
    to.number(elements.bytes.size());
    put(to, elements.known);
    to.bytes(elements.bytes);
  });
}

Elements read_elements(std::span<const std::byte> from) {
  Reader reader(from);
  const std::uint64_t size = reader.number();
  const Regions known = get_regions(reader);
  const auto bytes = reader.take(size);
  return own_elements(known, Bytes(bytes.begin(), bytes.end()));
}

}  // namespace mend::fenix
