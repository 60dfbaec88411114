// Members as bytes: copied as they lie, or written and read by a function of the application.

#pragma once

#include "fenix/data/group.hpp"

namespace mend::fenix {

/// Puts these elements into `bytes`, which begin with element 0. Local.
void write_elements_of(const Definition& definition, const Regions& regions, Bytes& bytes);

/// Returns the output of the serializer of a member without a count for all elements. Local.
Bytes write_whole(const Definition& definition);

/// Copies these elements from `elements` to `target`; a member without a count is read in one piece. Local.
void read_elements_of(const Definition& definition, const Regions& regions, const Elements& elements, void* target);

}  // namespace mend::fenix
