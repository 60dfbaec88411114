// Fenix's subsets: regions in a shell of C.

#include "fenix/call.hpp"

namespace {

using mend::fenix::Regions;

Regions full;  // the address is what counts
Regions empty;
Regions prestaged;

int add_block(Regions& regions, long start, long end) {
  if (start < 0) return FENIX_ERROR_SUBSET_START_OFFSET;
  if (end < start) return FENIX_ERROR_SUBSET_END_OFFSET;
  regions.add({static_cast<std::size_t>(start), static_cast<std::size_t>(end) + 1});
  return FENIX_SUCCESS;
}

}  // namespace

const Fenix_Data_subset FENIX_DATA_SUBSET_FULL = {&full};
const Fenix_Data_subset FENIX_DATA_SUBSET_EMPTY = {&empty};
const Fenix_Data_subset FENIX_DATA_SUBSET_PRESTAGED = {&prestaged};

namespace mend::fenix {

Regions regions_of(const Fenix_Data_subset& subset, const Definition& definition) {
  if (subset.impl == &empty || subset.impl == &prestaged) return {};
  if (subset.impl == &full) {
    if (definition.count == FENIX_RESIZEABLE) {
      throw Refused(FENIX_ERROR_SUBSET_END_OFFSET,
                    fmt::format("member {} has no size of its own: say which elements", definition.id));
    }
    return Regions::first(definition.count);
  }
  if (subset.impl == nullptr) throw Refused(FENIX_ERROR_SUBSET_NUM_BLOCKS, "the subset was never created");
  const auto& regions = *static_cast<const Regions*>(subset.impl);
  if (definition.count != FENIX_RESIZEABLE && regions.end() > definition.count) {
    throw Refused(FENIX_ERROR_SUBSET_END_OFFSET,
                  fmt::format("the subset ends with element {}, but member {} has only {}", regions.end() - 1,
                              definition.id, definition.count));
  }
  return regions;
}

}  // namespace mend::fenix

int Fenix_Data_subset_create(int num_blocks, int start_offset, int end_offset, int stride,
                             Fenix_Data_subset* subset_specifier) {
  if (num_blocks <= 0) return FENIX_ERROR_SUBSET_NUM_BLOCKS;
  if (num_blocks > 1 && stride <= 0) return FENIX_ERROR_SUBSET_STRIDE;
  Regions regions;
  for (int block = 0; block < num_blocks; ++block) {
    const int code = add_block(regions, start_offset + long{stride} * block, end_offset + long{stride} * block);
    if (code != FENIX_SUCCESS) return code;
  }
  subset_specifier->impl = new Regions(std::move(regions));
  return FENIX_SUCCESS;
}

int Fenix_Data_subset_createv(int num_blocks, int* array_start_offsets, int* array_end_offsets,
                              Fenix_Data_subset* subset_specifier) {
  if (num_blocks <= 0) return FENIX_ERROR_SUBSET_NUM_BLOCKS;
  Regions regions;
  for (int block = 0; block < num_blocks; ++block) {
    const int code = add_block(regions, array_start_offsets[block], array_end_offsets[block]);
    if (code != FENIX_SUCCESS) return code;
  }
  subset_specifier->impl = new Regions(std::move(regions));
  return FENIX_SUCCESS;
}

int Fenix_Data_subset_delete(Fenix_Data_subset* subset_specifier) {
  const void* made = subset_specifier->impl;
  if (made != &full && made != &empty && made != &prestaged) delete static_cast<const Regions*>(made);
  subset_specifier->impl = nullptr;
  return FENIX_SUCCESS;
}
