#include "fenix/data/serializer.hpp"

#include "fenix/data/call.hpp"
#include "fenix/fenix.h"
#include "fenix/process/guarded.hpp"

#include <exception>
#include <limits>
#include <utility>

namespace mend::fenix {
namespace {

using ::fenix::data::SerializeFileFunc;

/// One call of the serializer.
struct Piece {
  int direction;
  void* buffer;
  std::size_t first;
  int count;
};

/// Makes the serializer do one piece on `bytes`, which begin with element 0. Returns the bytes after that.
Bytes run(const Definition& definition, const Piece& piece, Bytes bytes) {
  const std::size_t position = piece.first * definition.element_bytes;
  const auto call = [&](const auto& function, auto&& file) {
    try {
      function(file, piece.direction, piece.buffer, static_cast<int>(piece.first), piece.count);
    } catch (const Refused&) {  // of a serializer of mend's own, as that of a message log
      throw;
    } catch (...) {
      throw ThrownByProgram{std::current_exception()};
    }
  };
  if (const auto* on_file = std::get_if<SerializeFileFunc>(definition.serializer.get())) {
    MemoryFile file(std::move(bytes), piece.direction == FENIX_SERIALIZE ? FileUse::write : FileUse::read);
    file.seek(position);
    call(*on_file, file.file());
    return file.take();
  }
  MemoryStream stream(std::move(bytes));
  stream.seek(position);
  call(std::get<::fenix::data::SerializeStreamFunc>(*definition.serializer), stream.stream());
  return stream.take();
}

}  // namespace

void require_countable(const Definition& definition, std::size_t elements) {
  if (!definition.serializer || elements <= static_cast<std::size_t>(std::numeric_limits<int>::max())) return;
  throw Refused(FENIX_ERROR_MEMBER_CREATE,
                fmt::format("member {} has 2^31 elements or more, which its serializer cannot count", definition.id));
}

void write_elements_of(const Definition& definition, const Regions& regions, Bytes& bytes) {
  require_countable(definition, regions.end());
  for (const Region& region : regions.all()) {
    const Piece piece{FENIX_SERIALIZE, definition.buffer, region.begin, static_cast<int>(region.end - region.begin)};
    const std::size_t size = bytes.size();
    bytes = run(definition, piece, std::move(bytes));
    bytes.resize(size);
  }
}

Bytes write_whole(const Definition& definition) {
  return run(definition, {FENIX_SERIALIZE, definition.buffer, 0, FENIX_RESIZEABLE}, {});
}

void read_elements_of(const Definition& definition, const Regions& regions, const Elements& elements, void* target) {
  if (!definition.serializer) {
    copy_elements(elements, definition, regions, static_cast<std::byte*>(target));
    return;
  }
  require_countable(definition, regions.end());
  Bytes bytes = copy_of(elements.bytes);
  if (bytes.empty()) {  // a member that was empty at the commit becomes empty again
    run(definition, {FENIX_DESERIALIZE, target, 0, 0}, std::move(bytes));
    return;
  }
  for (const Region& region : regions.all()) {
    const Piece piece{FENIX_DESERIALIZE, target, region.begin, static_cast<int>(region.end - region.begin)};
    bytes = run(definition, piece, std::move(bytes));
  }
}

}  // namespace mend::fenix
