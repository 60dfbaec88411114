// Gives committed data to the application: in a buffer, through the member's serializer, or through a file in memory.
// After a recovery, Group::catch_up() (group.cpp) has restored the data on this rank before.
//
// A function that may recover from a failure holds no object with a destructor after `checked` has returned, because
// longjmp may leave it.

#include "fenix/data/call.hpp"
#include "fenix/data/serializer.hpp"
#include "fenix/process/settings.hpp"

#include <algorithm>
#include <optional>

namespace mend::fenix {

Found find_elements(const Group& group, int member_id, int time_stamp) {
  const bool as_in_1_0 = settings().accumulates_snapshots;
  const FenixSnapshot* snapshot = group.snapshot_at(time_stamp);
  if (snapshot == nullptr && settings().finds_any_time_stamp) snapshot = group.newest();
  if (snapshot == nullptr) return {};
  const auto found = snapshot->members.find(member_id);
  if (found == snapshot->members.end()) return {};
  const bool all = time_stamp == FENIX_DATA_SNAPSHOT_ALL || as_in_1_0;
  if (!all && !found->second.is_fresh) return {};
  return {&found->second.elements, all ? found->second.elements.known : found->second.fresh};
}

namespace {

/// Throws Refused if no snapshot can have that time stamp. In Fenix 1.0 a time stamp that no snapshot has means the
/// newest.
void require_time_stamp(int time_stamp) {
  const bool has_name = time_stamp == FENIX_DATA_SNAPSHOT_LATEST || time_stamp == FENIX_DATA_SNAPSHOT_ALL;
  if (time_stamp >= 0 || has_name || settings().finds_any_time_stamp) return;
  throw Refused(FENIX_ERROR_INVALID_TIMESTAMP, fmt::format("no snapshot has the time stamp {}", time_stamp));
}

/// The number of elements to copy, and the elements among them that exist.
struct Due {
  std::size_t count;
  Regions which;
};

/// In Fenix 1.0 a program may ask for more than the member has.
Due due_in_1_0(const Definition& definition, const Found& found, int max_count) {
  const std::size_t has = definition.count != FENIX_RESIZEABLE ? definition.count : found.which.end();
  const bool wants_all = max_count <= 0 || max_count == FENIX_DATA_RESTORE_FULL;
  const std::size_t count = wants_all ? has : std::min(has, static_cast<std::size_t>(max_count));
  return {count, found.which.below(count)};
}

/// Returns all elements found, but at most as many as the member's own buffer has, or as were asked for.
Due due(const Definition& definition, const Found& found, const void* target, int max_count) {
  if (settings().accumulates_snapshots) return due_in_1_0(definition, found, max_count);
  const bool wants_all = max_count < 0 || max_count == FENIX_DATA_RESTORE_FULL;
  const bool is_bounded = target == definition.buffer && definition.count != FENIX_RESIZEABLE;
  const std::size_t all = is_bounded ? std::min(found.which.end(), definition.count) : found.which.end();
  const std::size_t count = wants_all ? all : static_cast<std::size_t>(max_count);
  return {count, found.which.below(count)};
}

}  // namespace

int hand_out(Definition& definition, const Found& found, void* target, int max_count, Fenix_Data_subset* found_data) {
  const bool as_in_1_0 = settings().accumulates_snapshots;
  const bool has_no_target = target == nullptr && max_count != FENIX_DATA_RESTORE_FULL && settings().is_for_1_0;
  const bool only_asks = has_no_target || (max_count == 0 && (!as_in_1_0 || target == nullptr));
  if (target == nullptr) target = definition.buffer;
  if (target == nullptr && !only_asks && !definition.serializer)
    throw Refused(FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, "there is no buffer to restore to");
  if (definition.buffer == nullptr && !only_asks) definition.buffer = target;
  if (found.elements == nullptr) return FENIX_ERROR_NODATA_FOUND;
  if (only_asks) {
    put_into(found_data, found.which);
    return FENIX_SUCCESS;
  }
  const Due wanted = due(definition, found, target, max_count);
  read_elements_of(definition, wanted.which, *found.elements, target);
  put_into(found_data, as_in_1_0 ? wanted.which : found.which);
  return wanted.which == Regions::first(wanted.count) ? FENIX_SUCCESS : FENIX_WARNING_PARTIAL_RESTORE;
}

OpenedToLoad open_to_load(int group_id, int member_id, int time_stamp) {
  Group& group = group_of(group_id);
  member_of(group, member_id);
  require_closed(group, member_id);
  require_time_stamp(time_stamp);
  const Found found = find_elements(group, member_id, time_stamp);
  if (found.elements == nullptr) {
    throw Refused(FENIX_ERROR_NODATA_FOUND, fmt::format("nothing of member {} was committed", member_id));
  }
  return {group.open_members()[member_id], found};
}

}  // namespace mend::fenix

namespace {

using namespace mend::fenix;

/// Programs delete the subset also if nothing was found.
void clear(Fenix_Data_subset* found_data) {
  if (found_data != nullptr) found_data->impl = nullptr;
}

int restore(int group_id, int member_id, void* target, int max_count, int time_stamp, Fenix_Data_subset* found_data) {
  Group& group = group_of(group_id);
  Definition& definition = member_of(group, member_id);
  require_closed(group, member_id);
  require_time_stamp(time_stamp);
  const Found found = find_elements(group, member_id, time_stamp);
  const int code = hand_out(definition, found, target, max_count, found_data);
  // Fenix 1.0 empties the buffer of the next commit here.
  if (settings().is_for_1_0 && found.elements != nullptr) group.unstage(member_id);
  return code;
}

int restore_from_rank(int group_id, int member_id, void* target, int max_count, int time_stamp,
                      Fenix_Data_subset* found_data, int source_rank) {
  Group& group = group_of(group_id);
  group.catch_up();
  const std::optional<int> source = group.rank_of(source_rank);
  // This rank takes part even if its arguments are wrong, because the other ranks wait for it.
  const Found mine = find_elements(group, member_id, time_stamp);
  std::optional<Elements> lent;
  if (mine.elements != nullptr) {
    lent = *mine.elements;
    lent->known = mine.which;
  }
  const std::optional<Elements> theirs = group.fetch(lent, source.value_or(0));
  if (!source) throw Refused(FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, fmt::format("there is no rank {}", source_rank));
  require_time_stamp(time_stamp);
  Definition as_theirs = member_of(group, member_id);
  // Its number of elements may differ from the number here, which counts for the member's own buffer alone.
  if (target != nullptr && target != as_theirs.buffer) as_theirs.count = FENIX_RESIZEABLE;
  const Found found = theirs ? Found{&*theirs, theirs->known} : Found{};
  return hand_out(as_theirs, found, target, max_count, found_data);
}

}  // namespace

// --- collective ------------------------------------------------------------------------------------------------

int Fenix_Data_member_restore(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                              Fenix_Data_subset* found_data) {
  clear(found_data);
  const Outcome outcome = checked("Fenix_Data_member_restore", [&]() -> int {
    group_of(group_id).catch_up();
    return restore(group_id, member_id, target_buffer, max_count, time_stamp, found_data);
  });
  return settle(outcome);
}

int Fenix_Data_member_repair(int group_id, int member_id) {
  const Outcome outcome = checked("Fenix_Data_member_repair", [&]() -> int {
    Group& group = group_of(group_id);
    group.catch_up();
    member_of(group, member_id);
    return FENIX_SUCCESS;
  });
  return settle(outcome);
}

int Fenix_Data_member_restore_from_rank(int member_id, void* target_buffer, int max_count, int time_stamp, int group_id,
                                        int source_rank) {
  const Outcome outcome = checked("Fenix_Data_member_restore_from_rank", [&]() -> int {
    return restore_from_rank(group_id, member_id, target_buffer, max_count, time_stamp, nullptr, source_rank);
  });
  return settle(outcome);
}

int mend_fenix_restore_from_rank(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                                 Fenix_Data_subset* found_data, int source_rank) {
  clear(found_data);
  const Outcome outcome = checked("Fenix_Data_member_restore_from_rank", [&]() -> int {
    return restore_from_rank(group_id, member_id, target_buffer, max_count, time_stamp, found_data, source_rank);
  });
  return settle(outcome);
}

// --- local -----------------------------------------------------------------------------------------------------

int Fenix_Data_member_lrestore(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                               Fenix_Data_subset* found_data) {
  clear(found_data);
  return local("Fenix_Data_member_lrestore",
               [&]() -> int { return restore(group_id, member_id, target_buffer, max_count, time_stamp, found_data); });
}

int Fenix_Data_member_load(int group_id, int member_id, int time_stamp, Fenix_Data_subset* found_data) {
  clear(found_data);
  return local("Fenix_Data_member_load", [&]() -> int {
    return restore(group_id, member_id, FENIX_DATA_RESTORE_INPLACE, FENIX_DATA_RESTORE_FULL, time_stamp, found_data);
  });
}

int Fenix_Data_member_load_to(int group_id, int member_id, void* target, int target_count, int time_stamp,
                              Fenix_Data_subset* found_data) {
  clear(found_data);
  return local("Fenix_Data_member_load_to",
               [&]() -> int { return restore(group_id, member_id, target, target_count, time_stamp, found_data); });
}

int Fenix_Data_member_load_begin(int group_id, int member_id, FILE** file, int time_stamp,
                                 Fenix_Data_subset* found_data) {
  clear(found_data);
  return local("Fenix_Data_member_load_begin", [&]() -> int {
    const auto [open, found] = open_to_load(group_id, member_id, time_stamp);
    open.file = std::make_unique<MemoryFile>(copy_of(found.elements->bytes), FileUse::read);
    *file = open.file->file();
    put_into(found_data, found.which);
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_member_load_end(int group_id, int member_id) {
  return local("Fenix_Data_member_load_end", [&]() -> int {
    Group& group = group_of(group_id);
    member_of(group, member_id);
    const auto open = group.open_members().find(member_id);
    if (open != group.open_members().end() && open->second.staging) require_closed(group, member_id);
    if (open == group.open_members().end()) {
      throw Refused(FENIX_ERROR_INVALID_LOGIC_CALL,
                    fmt::format("member {} is not being loaded: call Fenix_Data_member_load_begin first", member_id));
    }
    group.open_members().erase(open);
    return FENIX_SUCCESS;
  });
}
