// Fenix's subsets in C: a DataSubset in a shell.

#include "fenix/data/call.hpp"
#include "fenix/fenix.hpp"
#include "fenix/process/settings.hpp"

using ::fenix::DataSubset;

namespace {

DataSubset full{DataSubset::MAX};
DataSubset empty;
DataSubset prestaged{DataSubset::PrestagedSubset};

int check_block(long start, long end) {
  if (start < 0) return FENIX_ERROR_SUBSET_START_OFFSET;
  if (end < start) return FENIX_ERROR_SUBSET_END_OFFSET;
  return FENIX_SUCCESS;
}

}  // namespace

const Fenix_Data_subset FENIX_DATA_SUBSET_FULL = {&full};
const Fenix_Data_subset FENIX_DATA_SUBSET_EMPTY = {&empty};
const Fenix_Data_subset FENIX_DATA_SUBSET_PRESTAGED = {&prestaged};

namespace fenix::data {
const DataSubset& SUBSET_FULL = full;
const DataSubset& SUBSET_EMPTY = empty;
const DataSubset& SUBSET_PRESTAGED = prestaged;
DataSubset SUBSET_IGNORE;
}  // namespace fenix::data

namespace mend::fenix {

const DataSubset& subset_in(const Fenix_Data_subset& shell) {
  if (shell.impl == nullptr) throw Refused(FENIX_ERROR_SUBSET_NUM_BLOCKS, "the subset was never created");
  return *static_cast<const DataSubset*>(shell.impl);
}

Regions regions_of(const DataSubset& subset, const Definition& definition) {
  // In Fenix 1.0 a member with a count of 0 has no elements.
  const bool resizable = definition.count == FENIX_RESIZEABLE && !settings().is_for_1_0;
  if (!subset.is_bounded() && resizable) {
    throw Refused(FENIX_ERROR_INVALID_SUBSET,
                  fmt::format("member {} has no size of its own: say which elements", definition.id));
  }
  Regions regions;
  for (const auto& [first, last] : subset.blocks()) {
    if (last == DataSubset::MAX) {
      regions.add({first, definition.count});
    } else if (!resizable && last >= definition.count) {
      throw Refused(FENIX_ERROR_SUBSET_END_OFFSET,
                    fmt::format("the subset ends with element {}, but member {} has only {}", last, definition.id,
                                definition.count));
    } else {
      regions.add({first, last + 1});
    }
  }
  return regions;
}

DataSubset subset_of(const Regions& regions) {
  std::vector<DataSubset::Block> blocks;
  for (const Region& region : regions.all()) blocks.emplace_back(region.begin, region.end - 1);
  return DataSubset(blocks);
}

void put_into(Fenix_Data_subset* shell, const Regions& regions) {
  if (shell != nullptr) shell->impl = new DataSubset(subset_of(regions));
}

}  // namespace mend::fenix

int Fenix_Data_subset_create(int num_blocks, int start_offset, int end_offset, int stride,
                             Fenix_Data_subset* subset_specifier) {
  if (num_blocks <= 0) return FENIX_ERROR_SUBSET_NUM_BLOCKS;
  if (num_blocks > 1 && stride <= 0) return FENIX_ERROR_SUBSET_STRIDE;
  const int code = check_block(start_offset, end_offset);
  if (code != FENIX_SUCCESS) return code;
  const DataSubset::Block block(start_offset, end_offset);
  subset_specifier->impl =
      new DataSubset(block, static_cast<std::size_t>(num_blocks), static_cast<std::size_t>(stride));
  return FENIX_SUCCESS;
}

int Fenix_Data_subset_createv(int num_blocks, int* array_start_offsets, int* array_end_offsets,
                              Fenix_Data_subset* subset_specifier) {
  if (num_blocks <= 0) return FENIX_ERROR_SUBSET_NUM_BLOCKS;
  if (array_start_offsets == nullptr) return FENIX_ERROR_SUBSET_START_OFFSET;
  if (array_end_offsets == nullptr) return FENIX_ERROR_SUBSET_END_OFFSET;
  for (int block = 0; block < num_blocks; ++block) {
    const int code = check_block(array_start_offsets[block], array_end_offsets[block]);
    if (code != FENIX_SUCCESS) return code;
  }
  subset_specifier->impl = new DataSubset(num_blocks, array_start_offsets, array_end_offsets);
  return FENIX_SUCCESS;
}

int Fenix_Data_subset_delete(Fenix_Data_subset* subset_specifier) {
  if (subset_specifier == nullptr) return FENIX_SUCCESS;
  const auto* made = static_cast<const DataSubset*>(subset_specifier->impl);
  if (made != &full && made != &empty && made != &prestaged) delete made;
  subset_specifier->impl = nullptr;
  return FENIX_SUCCESS;
}
