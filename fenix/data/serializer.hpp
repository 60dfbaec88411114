// Members as bytes: copied as they lie, or written and read by a function of the application.

#pragma once

#include "fenix/data/group.hpp"

namespace mend::fenix {

/// Throws Refused if the member has a serializer, whose arguments are numbers of type int, and more elements than that.
/// Local.
void require_countable(const Definition& definition, std::size_t elements);

/// Makes the member's serializer write these elements into `bytes`, which begin with element 0. Throws Refused. Local.
void write_elements_of(const Definition& definition, const Regions& regions, Bytes& bytes);

/// Returns the output of the serializer of a member without a count for all elements. Local.
Bytes write_whole(const Definition& definition);

/// Copies these elements from `elements` to `target`; a member without a count is read in one piece. Throws Refused.
/// Local.
void read_elements_of(const Definition& definition, const Regions& regions, const Elements& elements, void* target);

}  // namespace mend::fenix
