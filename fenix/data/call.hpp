// Calls of the data functions, with a check of their arguments.

#pragma once

#include "base/telemetry/log.hpp"
#include "fenix/data/group.hpp"
#include "fenix/process/guarded.hpp"
#include "fenix/data/regions.hpp"
#include "fenix/data/subset.hpp"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mend::fenix {

/// An error in an argument: the code of Fenix, and a text.
class Refused : public std::exception {
 public:
  Refused(int code, std::string sentence) : code_(code), sentence_(std::move(sentence)) {}
  int code() const { return code_; }
  const char* what() const noexcept override { return sentence_.c_str(); }

 private:
  int code_;
  std::string sentence_;
};

/// Does the same as mend::fenix::guarded for work that may refuse its arguments.
template <class Work>
Outcome checked(const char* function, const Work& work) {
  return guarded(function, [&]() -> int {
    try {
      return work();
    } catch (const Refused& refused) {
      mend::log::warn(fmt::format("{}: {}", function, refused.what()));
      return refused.code();
    }
  });
}

/// The same for local functions: only their arguments can be wrong.
template <class Work>
int local(const char* function, const Work& work) {
  return checked(function, work).code;
}

/// Returns the group, or the member, of this id. Throws Refused if there is none.
Group& group_of(int id);
Definition& member_of(Group& group, int id);

/// Returns true if `comm` has all ranks, in their order. Local.
bool spans_all_ranks(MPI_Comm comm);
/// Returns the ranks of `comm` in the resilient communicator, in the order of `comm`; nothing if not all of its
/// processes are ranks there. Local.
std::optional<std::vector<int>> ranks_in(MPI_Comm comm);

/// Makes the elements of the member those of this type. Throws Refused.
void set_type(Definition& definition, MPI_Datatype type);

/// Returns the subset in its shell for C. Throws Refused if it was never created.
const ::fenix::DataSubset& subset_in(const Fenix_Data_subset& shell);
/// Returns the elements of that member that are in a subset. Throws Refused.
Regions regions_of(const ::fenix::DataSubset& subset, const Definition& definition);
/// Converts regions to a subset.
::fenix::DataSubset subset_of(const Regions& regions);
/// Makes a new subset in `*shell`, unless that is null.
void put_into(Fenix_Data_subset* shell, const Regions& regions);

/// Throws Refused while the member is open (Fenix_Data_member_stage_begin, Fenix_Data_member_load_begin).
void require_closed(Group& group, int member_id);
/// Copies these elements to what the next commit takes. Throws Refused. Local.
void stage(Group& group, const Definition& definition, const ::fenix::DataSubset& subset);
/// The same for the member, or for all. Collective over the ranks in the first call after a failure.
int store(int group_id, int member_id, const ::fenix::DataSubset& subset);

/// The elements of a member in a snapshot that a restore gives to the application.
struct Found {
  const Elements* elements = nullptr;  ///< null: the member was not stored, not even without elements
  Regions which;
};
Found find_elements(const Group& group, int member_id, int time_stamp);
/// Gives the elements to the application. Returns Fenix's code for whether all elements that were asked for were found.
int hand_out(Definition& definition, const Found& found, void* target, int max_count, Fenix_Data_subset* found_data);

/// Defines a member, or replaces its definition. Throws Refused. Local.
int define_member(int group_id, const Definition& wanted);
/// The same for a member that should be new. If it exists, the size of its elements must be the same. Throws Refused.
/// Local.
int create_member(int group_id, const Definition& wanted);
Definition definition_of(int member_id, void* buffer, int count, MPI_Datatype datatype);

/// Opens a member that the application stages, or loads, through a file or a stream. Throws Refused. Local.
OpenMember& open_to_stage(int group_id, int member_id);
struct OpenedToLoad {
  OpenMember& member;
  const Found found;
};
OpenedToLoad open_to_load(int group_id, int member_id, int time_stamp);

}  // namespace mend::fenix
