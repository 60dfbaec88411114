#include "fenix/data/archive.hpp"

#include "base/byte_reader.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

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

/// Writes, or only counts what it would write.
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
    to.number(code_of(definition.datatype));
  }
}

std::vector<Definition> get_definitions(Reader& from) {
  std::vector<Definition> definitions;
  for (std::uint64_t left = from.number(); left > 0; --left) {
    Definition& definition = definitions.emplace_back();
    definition.id = static_cast<int>(from.number());
    definition.count = from.number();
    definition.element_bytes = from.number();
    definition.datatype = type_of(from.number());
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

void put_head(Writer& to, const Elements& elements) {
  to.number(elements.bytes.size());
  put(to, elements.known);
}

Elements get_head(Reader& from) {
  Elements elements;
  elements.bytes.resize(from.number());
  elements.known = get_regions(from);
  return elements;
}

void get_bytes(Reader& from, Elements& elements) {
  const auto bytes = from.take(elements.bytes.size());
  std::copy(bytes.begin(), bytes.end(), elements.bytes.begin());
}

/// Snapshots take turns in their places, so that one that stays lies where it lay.
std::vector<const FenixSnapshot*> in_their_places(const Committed& committed, std::size_t places) {
  std::vector<const FenixSnapshot*> order;
  for (const FenixSnapshot& snapshot : committed.history) order.push_back(&snapshot);
  std::ranges::sort(order, {},
                    [&](const FenixSnapshot* s) { return static_cast<std::size_t>(s->time_stamp) % places; });
  return order;
}

void put(Writer& to, const Committed& committed, std::size_t places) {
  put(to, committed.definitions);
  const std::vector<const FenixSnapshot*> order = in_their_places(committed, places);
  std::vector<const Elements*> shared;
  to.number(order.size());
  for (const FenixSnapshot* snapshot : order) {
    to.number(static_cast<std::uint64_t>(snapshot->time_stamp));
    to.number(snapshot->members.size());
    for (const auto& [id, kept] : snapshot->members) {
      auto found = std::ranges::find(shared, kept.elements.get());
      if (found == shared.end()) found = shared.insert(shared.end(), kept.elements.get());
      to.number(static_cast<std::uint64_t>(id));
      to.number(static_cast<std::uint64_t>(found - shared.begin()));
      put(to, kept.fresh);
    }
  }
  to.number(shared.size());
  for (const Elements* elements : shared) put_head(to, *elements);
  for (const Elements* elements : shared) to.bytes(elements->bytes);
}

}  // namespace

std::size_t written_size(const Committed& committed) {
  Writer counter(nullptr);
  put(counter, committed, 1);
  return counter.size();
}

void write(const Committed& committed, std::size_t places, std::span<std::byte> to) {
  Writer writer(to.data());
  put(writer, committed, places);
}

Committed read(std::span<const std::byte> from) {
  Reader reader(from);
  Committed committed;
  committed.definitions = get_definitions(reader);
  struct Reference {
    int id;
    std::uint64_t index;
    Regions fresh;
  };
  std::vector<std::pair<FenixSnapshot, std::vector<Reference>>> snapshots(reader.number());
  for (auto& [snapshot, references] : snapshots) {
    snapshot.time_stamp = static_cast<int>(reader.number());
    references.resize(reader.number());
    for (Reference& reference : references) {
      reference.id = static_cast<int>(reader.number());
      reference.index = reader.number();
      reference.fresh = get_regions(reader);
    }
  }
  std::vector<std::shared_ptr<Elements>> shared(reader.number());
  for (auto& elements : shared) elements = std::make_shared<Elements>(get_head(reader));
  for (auto& elements : shared) get_bytes(reader, *elements);
  for (auto& [snapshot, references] : snapshots) {
    for (const Reference& reference : references)
      snapshot.members[reference.id] = {shared.at(reference.index), reference.fresh};
    committed.history.push_back(std::move(snapshot));
  }
  std::ranges::sort(committed.history, std::ranges::greater{}, &FenixSnapshot::time_stamp);
  return committed;
}

Bytes write_definitions(const std::vector<Definition>& definitions) {
  Writer counter(nullptr);
  put(counter, definitions);
  Bytes bytes(counter.size());
  Writer writer(bytes.data());
  put(writer, definitions);
  return bytes;
}

std::vector<Definition> read_definitions(std::span<const std::byte> from) {
  Reader reader(from);
  return get_definitions(reader);
}

Bytes write_elements(const Elements& elements) {
  Writer counter(nullptr);
  put_head(counter, elements);
  Bytes bytes(counter.size() + elements.bytes.size());
  Writer writer(bytes.data());
  put_head(writer, elements);
  writer.bytes(elements.bytes);
  return bytes;
}

Elements read_elements(std::span<const std::byte> from) {
  Reader reader(from);
  Elements elements = get_head(reader);
  get_bytes(reader, elements);
  return elements;
}

}  // namespace mend::fenix
