// The content of the next commit: copied from members' buffers, or written by the application to a file in memory.

#include "fenix/data/call.hpp"

#include <algorithm>
#include <cstdlib>

namespace mend::fenix {
namespace {

/// Returns the subset in its shell for C, if its elements can be staged. Throws Refused.
const ::fenix::DataSubset& subset_to_stage(const Fenix_Data_subset& shell) {
  const ::fenix::DataSubset& subset = subset_in(shell);
  if (subset.type == ::fenix::DataSubset::PrestagedSubset)
    throw Refused(FENIX_ERROR_INVALID_SUBSET, "FENIX_DATA_SUBSET_PRESTAGED says what is staged already");
  return subset;
}

}  // namespace

void require_closed(Group& group, int member_id) {
  const auto open = group.open_members().find(member_id);
  if (open == group.open_members().end()) return;
  throw Refused(open->second.staging ? FENIX_ERROR_MEMBER_STAGING : FENIX_ERROR_MEMBER_LOADING,
                fmt::format("member {} is open: call Fenix_Data_member_{}_end first", member_id,
                            open->second.staging ? "stage" : "load"));
}

void stage(Group& group, const Definition& definition, const ::fenix::DataSubset& subset) {
  require_closed(group, definition.id);
  if (subset.type == ::fenix::DataSubset::PrestagedSubset)
    return group.stage(definition, {});  // counts as a store nevertheless
  const bool whole = !subset.is_bounded() && subset.start() == 0;
  if (whole && definition.count == FENIX_RESIZEABLE && definition.serializer) return group.stage_whole(definition);
  group.stage(definition, regions_of(subset, definition));
}

int store(int group_id, int member_id, const ::fenix::DataSubset& subset) {
  Group& group = group_of(group_id);
  group.catch_up();
  if (member_id != FENIX_DATA_MEMBER_ALL) {
    stage(group, member_of(group, member_id), subset);
    return FENIX_SUCCESS;
  }
  for (const Definition& definition : group.definitions()) stage(group, definition, subset);
  return FENIX_SUCCESS;
}

OpenMember& open_to_stage(int group_id, int member_id) {
  Group& group = group_of(group_id);
  member_of(group, member_id);
  require_closed(group, member_id);
  OpenMember& open = group.open_members()[member_id];
  open.staging = true;
  return open;
}

/// Stages these elements of `buffer`. They replace the elements that were staged since the last commit.
void stage_anew(Group& group, Definition definition, void* buffer, const Regions& regions) {
  definition.buffer = buffer;
  definition.serializer.reset();
  group.unstage(definition.id);
  group.stage(definition, regions);
}

}  // namespace mend::fenix

using namespace mend::fenix;

int Fenix_Data_member_stage(int group_id, int member_id, const Fenix_Data_subset subset_specifier) {
  return local("Fenix_Data_member_stage", [&]() -> int {
    Group& group = group_of(group_id);
    const ::fenix::DataSubset& subset = subset_to_stage(subset_specifier);
    stage(group, member_of(group, member_id), subset);
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_member_stage_inplace(int group_id, int member_id, void* buffer,
                                    const Fenix_Data_subset subset_specifier) {
  return local("Fenix_Data_member_stage_inplace", [&]() -> int {
    Group& group = group_of(group_id);
    const Definition& definition = member_of(group, member_id);
    const Regions regions = regions_of(subset_to_stage(subset_specifier), definition);
    require_closed(group, member_id);
    stage_anew(group, definition, buffer, regions);
    std::free(buffer);
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_member_stage_begin(int group_id, int member_id, FILE** file) {
  return local("Fenix_Data_member_stage_begin", [&]() -> int {
    OpenMember& open = open_to_stage(group_id, member_id);
    open.file = std::make_unique<MemoryFile>(Bytes{}, FileUse::write);
    *file = open.file->file();
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_member_stage_end(int group_id, int member_id) {
  return local("Fenix_Data_member_stage_end", [&]() -> int {
    Group& group = group_of(group_id);
    Definition definition = member_of(group, member_id);
    const auto open = group.open_members().find(member_id);
    if (open != group.open_members().end() && !open->second.staging) require_closed(group, member_id);
    if (open == group.open_members().end()) {
      throw Refused(FENIX_ERROR_INVALID_LOGIC_CALL,
                    fmt::format("member {} is not being staged: call Fenix_Data_member_stage_begin first", member_id));
    }
    Bytes bytes = open->second.file ? open->second.file->take() : open->second.stream->take();
    group.open_members().erase(open);
    if (bytes.size() % definition.element_bytes != 0) {
      throw Refused(FENIX_ERROR_INVALID_SUBSET,
                    fmt::format("{} bytes were staged for member {}, whose elements have {}", bytes.size(), member_id,
                                definition.element_bytes));
    }
    if (definition.count == FENIX_RESIZEABLE) {
      group.stage_bytes(definition, std::move(bytes));
    } else {
      const std::size_t count = std::min<std::size_t>(bytes.size() / definition.element_bytes, definition.count);
      definition.gap = 0;  // the file has the last element as a whole
      stage_anew(group, std::move(definition), bytes.data(), Regions::first(count));
    }
    return FENIX_SUCCESS;
  });
}
