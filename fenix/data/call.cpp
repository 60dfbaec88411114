#include "fenix/data/call.hpp"

#include "transport/mpi.hpp"

#include <algorithm>
#include <numeric>

namespace mend::fenix {

Group& group_of(int id) {
  const auto found = state().groups.find(id);
  if (found == state().groups.end()) {
    throw Refused(FENIX_ERROR_INVALID_GROUPID, fmt::format("there is no data group {}", id));
  }
  return *found->second;
}

Definition& member_of(Group& group, int id) {
  Definition* found = group.find(id);
  if (found == nullptr) throw Refused(FENIX_ERROR_INVALID_MEMBERID, fmt::format("the data group has no member {}", id));
  return *found;
}

bool spans_all_ranks(MPI_Comm comm) {
  int result = MPI_UNEQUAL;
  if (comm == MPI_COMM_NULL) return false;
  check_mpi(MPI_Comm_compare(comm, state().engine().epoch_state().application.get(), &result), "MPI_Comm_compare");
  return result == MPI_IDENT || result == MPI_CONGRUENT;
}

std::optional<std::vector<int>> ranks_in(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return std::nullopt;
  int size = 0;
  MPI_Group part = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm_size(comm, &size);
  MPI_Comm_group(comm, &part);
  MPI_Comm_group(state().engine().epoch_state().application.get(), &all);
  std::vector<int> own(static_cast<std::size_t>(size));
  std::iota(own.begin(), own.end(), 0);
  std::vector<int> ranks(own.size());
  MPI_Group_translate_ranks(part, size, own.data(), all, ranks.data());
  MPI_Group_free(&part);
  MPI_Group_free(&all);
  if (std::ranges::find(ranks, MPI_UNDEFINED) != ranks.end()) return std::nullopt;
  return ranks;
}

void set_type(Definition& definition, MPI_Datatype type) {
  const ErrorsReturned quiet;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  if (type == MPI_DATATYPE_NULL || MPI_Type_get_extent(type, &lower, &extent) != MPI_SUCCESS || lower != 0 ||
      extent <= 0) {
    throw Refused(FENIX_ERROR_MEMBER_CREATE, "the elements of a member begin at their address and take some bytes");
  }
  MPI_Aint true_lower = 0;
  MPI_Aint true_extent = 0;
  check_mpi(MPI_Type_get_true_extent(type, &true_lower, &true_extent), "MPI_Type_get_true_extent");
  const MPI_Aint gap = extent - (true_lower + true_extent);
  if (true_lower < 0 || gap < 0) {
    throw Refused(FENIX_ERROR_MEMBER_CREATE,
                  "the elements of a member must not overlap: the data of each lies within the extent of its type");
  }
  definition.element_bytes = static_cast<std::size_t>(extent);
  definition.gap = static_cast<std::size_t>(gap);
  definition.datatype = ElementType(type);
}

}  // namespace mend::fenix
