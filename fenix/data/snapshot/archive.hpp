// The description of a snapshot of a group as bytes, and back.

#pragma once

#include "fenix/data/group.hpp"

#include <span>
#include <vector>

namespace mend::fenix {

/// An older snapshot that is kept beside another.
struct KeptBeside {
  int time_stamp;
  Version version;
};

/// A member in a snapshot.
struct RecordedMember {
  int id;
  std::size_t offset;  ///< in the snapshot, of element 0
  std::size_t bytes;   ///< up to the last element known
  Regions known;       ///< elements that were ever stored
  Regions fresh;       ///< those that were stored for this snapshot
  bool is_fresh;       ///< the member was stored for this snapshot, perhaps without elements
};

struct Record {
  int time_stamp = 0;
  std::vector<KeptBeside> older;  ///< snapshots that were kept when this one was committed
  std::vector<Definition> definitions;
  std::vector<RecordedMember> members;
};

Bytes write(const Record& record);
/// Reads a record. Throws EnvironmentError for bytes that write did not write.
Record read_record(std::span<const std::byte> from);

/// The same for definitions alone, and for the elements of one member.
Bytes write_definitions(const std::vector<Definition>& definitions);
std::vector<Definition> read_definitions(std::span<const std::byte> from);
Bytes write_elements(const Elements& elements);
Elements read_elements(std::span<const std::byte> from);

}  // namespace mend::fenix
