// Persistent collective calls. On communicators whose calls are logged (framework/local_rollback/logged_calls.hpp), a
// start begins the non-blocking call of the same name, which is logged. The functions of MPI's profiling interface are
// intercepted, as in call_hooks.cpp.

#include "transport/library_function.hpp"
#include "framework/process/hooks/fortran_caller.hpp"
#include "framework/process/hooks/world_substitution.hpp"
#include "framework/process/hooks/parameters.hpp"
#include "framework/process/process_context.hpp"
#include "framework/process/hooks/refused_hooks.hpp"
#include "framework/local_rollback/logged_calls.hpp"
#include "framework/local_rollback/collectives/neighbours.hpp"
#include "framework/local_rollback/plain_calls.hpp"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace mend {

void intercept_persistent_collectives() {}

namespace {

/// The arguments that a request keeps. Datatypes stay valid when the application frees them, and arrays of datatypes
/// are copied, because wrappers for Fortran free them.
class Keeper {
 public:
  Keeper(int out, int in) : counts_{out, in} {}

  template <class Argument>
  Argument kept(Argument argument) {
    return argument;
  }
  MPI_Datatype kept(MPI_Datatype type) {
    if (type == MPI_DATATYPE_NULL) return type;
    types_.push_back(std::make_unique<KeptType>(type));  // the duplicate keeps it
    return type;
  }
  /// The first array is for the data that is sent, the second for the data that is received.
  const MPI_Datatype* kept(const MPI_Datatype* types) {
    const std::size_t which = next_++;
    std::vector<MPI_Datatype>& all = arrays_[which];
    for (int i = 0; types != nullptr && i < counts_[which]; ++i) all.push_back(kept(types[i]));
    return all.data();
  }

 private:
  std::array<int, 2> counts_;
  std::size_t next_ = 0;
  std::vector<std::unique_ptr<KeptType>> types_;
  std::array<std::vector<MPI_Datatype>, 2> arrays_;
};

/// `is_in_place`: this rank sends in place, so a call with an array of datatypes has no blocks that it sends.
template <class... Types, class... Given>
int make_persistent_collective(LoggedCalls& logged, const VirtualComm& virtual_comm, int (*begin)(Types...),
                               MPI_Request* request, bool is_in_place, bool has_neighbours, Given... given) {
  return logged.in_call([&] {
    int out = virtual_comm.size;
    int in = virtual_comm.size;
    if (has_neighbours) {
      Neighbours neighbours;
      if (const int code = find_neighbours(virtual_comm, neighbours); code != MPI_SUCCESS) return code;
      out = static_cast<int>(neighbours.destinations.size());
      in = static_cast<int>(neighbours.sources.size());
    }
    const auto keeper = std::make_shared<Keeper>(is_in_place ? 0 : out, in);
    const std::tuple<Given...> arguments{keeper->kept(given)...};
    return logged.messages().make_persistent(
        virtual_comm,
        [keeper, arguments, begin](MPI_Request* begun) {
          return std::apply([&](auto... all) { return begin(all..., begun); }, arguments);
        },
        request);
  });
}

/// Records a persistent request that the library has made.
int note_made_collective(int code, MPI_Comm comm, const MPI_Request* request) {
  if (code == MPI_SUCCESS) process_context().persistent_requests.note_made(comm, *request);
  return code;
}

bool is_in_place(const void* first) { return first == MPI_IN_PLACE; }
bool is_in_place(MPI_Comm /*first*/) { return false; }

}  // namespace
}  // namespace mend

// NOLINTBEGIN(readability-identifier-naming, cppcoreguidelines-macro-usage): MPI's names, as many as it has

// `given`: the number of arguments before info and request, which has the communicator as its last one.
#define MEND_PERSISTENT(name, beginning, given, comm, info, request, count, has_neighbours)                    \
  int P##name(MEND_PARAMETERS_##count(name)) {                                                                 \
    static const auto library = mend::of_the_library<decltype(&P##name)>("P" #name);                           \
    comm = mend::resolve(comm);                                                                                \
    if (auto* logged = mend::logged_calls_of(comm)) {                                                          \
      *request = MPI_REQUEST_NULL;                                                                             \
      if constexpr (mend::keeps_arrays(#name)) {                                                               \
        const void* const caller = __builtin_return_address(0);                                                \
        if (const auto code = mend::refuse_in_fortran(*logged, #name, caller, request)) return *code;          \
      }                                                                                                        \
      return mend::make_persistent_collective(*logged, *logged->virtual_comm_of(comm), &P##beginning, request, \
                                              mend::is_in_place(a0), has_neighbours, MEND_ARGUMENTS_##given);  \
    }                                                                                                          \
    return mend::note_made_collective(library(MEND_ARGUMENTS_##count), comm, request);                         \
  }                                                                                                            \
  static_assert(std::tuple_size_v<mend::ParametersOf<decltype(name)>::As> == (count));                         \
  extern "C" decltype(name) name __attribute__((weak, alias("P" #name)))

#define MEND_PERSISTENT_3(name, beginning) MEND_PERSISTENT(name, beginning, 1, a0, a1, a2, 3, false)
#define MEND_PERSISTENT_7(name, beginning) MEND_PERSISTENT(name, beginning, 5, a4, a5, a6, 7, false)
#define MEND_PERSISTENT_8(name, beginning) MEND_PERSISTENT(name, beginning, 6, a5, a6, a7, 8, false)
#define MEND_PERSISTENT_9(name, beginning, neighbours) MEND_PERSISTENT(name, beginning, 7, a6, a7, a8, 9, neighbours)
#define MEND_PERSISTENT_10(name, beginning, neighbours) MEND_PERSISTENT(name, beginning, 8, a7, a8, a9, 10, neighbours)
#define MEND_PERSISTENT_11(name, beginning, neighbours) MEND_PERSISTENT(name, beginning, 9, a8, a9, a10, 11, neighbours)

MEND_PERSISTENT_3(MPI_Barrier_init, MPI_Ibarrier);
MEND_PERSISTENT_7(MPI_Bcast_init, MPI_Ibcast);
MEND_PERSISTENT_9(MPI_Reduce_init, MPI_Ireduce, false);
MEND_PERSISTENT_8(MPI_Allreduce_init, MPI_Iallreduce);
MEND_PERSISTENT_8(MPI_Scan_init, MPI_Iscan);
MEND_PERSISTENT_8(MPI_Exscan_init, MPI_Iexscan);
MEND_PERSISTENT_8(MPI_Reduce_scatter_init, MPI_Ireduce_scatter);
MEND_PERSISTENT_8(MPI_Reduce_scatter_block_init, MPI_Ireduce_scatter_block);
MEND_PERSISTENT_10(MPI_Gather_init, MPI_Igather, false);
MEND_PERSISTENT_11(MPI_Gatherv_init, MPI_Igatherv, false);
MEND_PERSISTENT_10(MPI_Scatter_init, MPI_Iscatter, false);
MEND_PERSISTENT_11(MPI_Scatterv_init, MPI_Iscatterv, false);
MEND_PERSISTENT_9(MPI_Allgather_init, MPI_Iallgather, false);
MEND_PERSISTENT_10(MPI_Allgatherv_init, MPI_Iallgatherv, false);
MEND_PERSISTENT_9(MPI_Alltoall_init, MPI_Ialltoall, false);
MEND_PERSISTENT_11(MPI_Alltoallv_init, MPI_Ialltoallv, false);
MEND_PERSISTENT_11(MPI_Alltoallw_init, MPI_Ialltoallw, false);
MEND_PERSISTENT_9(MPI_Neighbor_allgather_init, MPI_Ineighbor_allgather, true);
MEND_PERSISTENT_10(MPI_Neighbor_allgatherv_init, MPI_Ineighbor_allgatherv, true);
MEND_PERSISTENT_9(MPI_Neighbor_alltoall_init, MPI_Ineighbor_alltoall, true);
MEND_PERSISTENT_11(MPI_Neighbor_alltoallv_init, MPI_Ineighbor_alltoallv, true);
MEND_PERSISTENT_11(MPI_Neighbor_alltoallw_init, MPI_Ineighbor_alltoallw, true);

// NOLINTEND(readability-identifier-naming, cppcoreguidelines-macro-usage)
