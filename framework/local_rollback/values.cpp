#include "framework/local_rollback/values.hpp"

#include "framework/local_rollback/plain_calls.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace mend {

int copy(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count, MPI_Datatype to_type) {
  const std::optional<int> plain = from_type == to_type ? plain_size(from_type) : std::nullopt;
  if (plain && from_count >= 0 && from_count <= to_count) {
    if (from_count > 0) std::memmove(to, from, static_cast<std::size_t>(*plain) * static_cast<std::size_t>(from_count));
    return MPI_SUCCESS;
  }
  // Not MPI_COMM_SELF, where the application may have messages.
  static const MPI_Comm own = [] {
    MPI_Comm made = MPI_COMM_NULL;
    check_mpi(PMPI_Comm_dup(MPI_COMM_SELF, &made), "MPI_Comm_dup");
    return made;
  }();
  return quietly([&] {
    return PMPI_Sendrecv(from, from_count, from_type, 0, 0, to, to_count, to_type, 0, 0, own, MPI_STATUS_IGNORE);
  });
}

int check_reduction(int count, MPI_Datatype type, MPI_Op op) {
  return quietly([&] { return PMPI_Reduce_local(nullptr, nullptr, std::min(count, 0), type, op); });  // reduces nothing
}

}  // namespace mend
