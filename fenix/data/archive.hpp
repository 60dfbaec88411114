// A group's committed part as bytes, and back.

#pragma once

#include "fenix/data/group.hpp"

#include <span>

namespace mend::fenix {

/// How long write() will be.
std::size_t written_size(const Committed& committed);
/// Elements that snapshots share are written once, and lie where they lay at the commits before, so that only what has
/// changed is sent.
void write(const Committed& committed, std::size_t places, std::span<std::byte> to);
/// Throws EnvironmentError for what write did not write.
Committed read(std::span<const std::byte> from);

/// The same for definitions alone, and for the elements of one member.
Bytes write_definitions(const std::vector<Definition>& definitions);
std::vector<Definition> read_definitions(std::span<const std::byte> from);
Bytes write_elements(const Elements& elements);
Elements read_elements(std::span<const std::byte> from);

}  // namespace mend::fenix
