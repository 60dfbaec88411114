// MPI_COMM_WORLD as session.comm() (--mend-world session): the functions that ask about a communicator or set its
// properties, and that no other file here intercepts. The functions of MPI's profiling interface are intercepted, as in
// call_hooks.cpp. Attributes that MPI sets itself, as MPI_TAG_UB, stay those of MPI_COMM_WORLD.
//
// MPI_Pack and similar functions are not intercepted: on machines of one kind they do the same on each communicator.
// Neither is MPI_Abort, which ends the job on each.

#include "framework/process/hooks/world_substitution.hpp"

#include "framework/process/body_guard.hpp"
#include "framework/process/hooks/parameters.hpp"
#include "transport/library_function.hpp"
#include "framework/local_rollback/logged_calls.hpp"

#include <mpi.h>
#include <mpi-ext.h>

#include <tuple>

namespace mend {

void intercept_world() {}

namespace {

/// Sets `group` to the ranks of `comm`, by `library` of MPI. Under local rollback, the application's handles are of
/// different epochs, and MPI's groups of them contain other processes where one has died. So all are parts of one.
int find_group(MPI_Comm comm, MPI_Group* group, int (*library)(MPI_Comm, MPI_Group*)) {
  const LoggedCalls* const logged = logged_calls_of(comm);
  const MPI_Comm whole = logged == nullptr ? MPI_COMM_NULL : logged->comm_of_groups();
  if (whole == MPI_COMM_NULL || whole == comm) return library(comm, group);
  MPI_Group all = MPI_GROUP_NULL;
  if (const int code = library(whole, &all); code != MPI_SUCCESS) return code;
  const VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
  const int code = PMPI_Group_incl(all, virtual_comm.size, virtual_comm.members.data(), group);
  PMPI_Group_free(&all);
  return code;
}

/// Returns true if MPI's own groups of the two communicators do not fit together.
bool have_groups_of_mend(MPI_Comm one, MPI_Comm other) {
  const LoggedCalls* const logged = logged_calls_of(one);
  return one != other && logged != nullptr && logged->comm_of_groups() != MPI_COMM_NULL &&
         logged->virtual_comm_of(other) != nullptr;
}

/// Compares two communicators by their groups.
int compare_groups(MPI_Comm one, MPI_Comm other, int* result) {
  MPI_Group of_one = MPI_GROUP_NULL;
  MPI_Group of_other = MPI_GROUP_NULL;
  if (const int code = PMPI_Comm_group(one, &of_one); code != MPI_SUCCESS) return code;
  int code = PMPI_Comm_group(other, &of_other);
  if (code == MPI_SUCCESS) {
    code = PMPI_Group_compare(of_one, of_other, result);
    if (code == MPI_SUCCESS && *result == MPI_IDENT) *result = MPI_CONGRUENT;
    PMPI_Group_free(&of_other);
  }
  PMPI_Group_free(&of_one);
  return code;
}

/// Returns true for the keys of attributes that MPI itself sets for communicators, as MPI_TAG_UB. The real
/// MPI_COMM_WORLD has all of them. The keys of windows lie in between.
bool is_key_of_mpi(int key) {
  const bool is_of_windows = key >= MPI_WIN_BASE && key <= MPI_WIN_MODEL;
  return key >= MPI_TAG_UB && key <= MPI_FT && !is_of_windows;
}

MPI_Comm resolve_to_get(MPI_Comm comm, int key) { return is_key_of_mpi(key) ? comm : resolve_to_ask(comm); }

/// Gets such an attribute in the form of Fortran, if MPI_COMM_WORLD is not itself now. Returns false otherwise.
template <class Number>
bool get_from_world(int key, Number* value, int* is_set) {
  if (!is_key_of_mpi(key) || world_of_body() == MPI_COMM_WORLD) return false;
  const int* found = nullptr;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, key, static_cast<void*>(&found), is_set);
  if (*is_set != 0) *value = *found;
  return true;
}

}  // namespace
}  // namespace mend

// NOLINTBEGIN(readability-identifier-naming, cppcoreguidelines-macro-usage): MPI's names, as many as it has

#define MEND_MEAN_BY(function, name, count)                                             \
  int function(MEND_PARAMETERS_##count(name)) {                                         \
    static const auto library = mend::of_the_library<decltype(&(function))>(#function); \
    return library(MEND_RESOLVE_TO_ASK_##count);                                        \
  }                                                                                     \
  static_assert(std::tuple_size_v<mend::ParametersOf<decltype(name)>::As> == (count))
#define MEND_MEAN(name, count)        \
  MEND_MEAN_BY(P##name, name, count); \
  extern "C" decltype(name) name __attribute__((weak, alias("P" #name)))
// Of these the library has two functions each: programs in C call one, and its wrappers for Fortran the other.
#define MEND_MEAN_EXTENSION(name, count) \
  MEND_MEAN_BY(name, name, count);       \
  MEND_MEAN_BY(P##name, name, count)

int PMPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  static const auto library = mend::of_the_library<decltype(&PMPI_Comm_group)>("PMPI_Comm_group");
  return mend::find_group(mend::resolve_to_ask(comm), group, library);
}
MEND_SAME_AS_PMPI(MPI_Comm_group);

int PMPI_Comm_compare(MPI_Comm one, MPI_Comm other, int* result) {
  one = mend::resolve_to_ask(one);
  other = mend::resolve_to_ask(other);
  static const auto library = mend::of_the_library<decltype(&PMPI_Comm_compare)>("PMPI_Comm_compare");
  return mend::have_groups_of_mend(one, other) ? mend::compare_groups(one, other, result) : library(one, other, result);
}
MEND_SAME_AS_PMPI(MPI_Comm_compare);

int PMPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* is_set) {
  static const auto library = mend::of_the_library<decltype(&PMPI_Comm_get_attr)>("PMPI_Comm_get_attr");
  return library(mend::resolve_to_get(comm, key), key, value, is_set);
}
MEND_SAME_AS_PMPI(MPI_Comm_get_attr);

// The library's wrappers for Fortran call this function, and programs in C another one. Wrappers of attributes, and of
// calls with arrays of datatypes, do not leave the communicator to the functions that are intercepted.
MPI_Comm PMPI_Comm_f2c(MPI_Fint number) {
  static const auto library = mend::of_the_library<decltype(&PMPI_Comm_f2c)>("PMPI_Comm_f2c");
  return mend::resolve_to_ask(library(number));
}

// With these functions of its own, the library gets attributes for Fortran: those of MPI_Comm_get_attr and
// MPI_Attr_get, and those of windows and types. `attributes`: of the object.
extern "C" {
int ompi_attr_get_aint(void* attributes, int key, MPI_Aint* value, int* is_set);
int ompi_attr_get_fint(void* attributes, int key, MPI_Fint* value, int* is_set);
}

int ompi_attr_get_aint(void* attributes, int key, MPI_Aint* value, int* is_set) {
  static const auto library = mend::of_the_library<decltype(&ompi_attr_get_aint)>("ompi_attr_get_aint");
  return mend::get_from_world(key, value, is_set) ? MPI_SUCCESS : library(attributes, key, value, is_set);
}

int ompi_attr_get_fint(void* attributes, int key, MPI_Fint* value, int* is_set) {
  static const auto library = mend::of_the_library<decltype(&ompi_attr_get_fint)>("ompi_attr_get_fint");
  return mend::get_from_world(key, value, is_set) ? MPI_SUCCESS : library(attributes, key, value, is_set);
}

MEND_MEAN(MPI_Comm_test_inter, 2);
MEND_MEAN(MPI_Comm_remote_group, 2);
MEND_MEAN(MPI_Comm_remote_size, 2);
MEND_MEAN(MPI_Comm_get_name, 3);
MEND_MEAN(MPI_Comm_set_name, 2);
MEND_MEAN(MPI_Comm_get_info, 2);
MEND_MEAN(MPI_Comm_set_info, 2);
MEND_MEAN(MPI_Comm_set_attr, 3);
MEND_MEAN(MPI_Comm_delete_attr, 2);
MEND_MEAN(MPI_Comm_get_errhandler, 2);
MEND_MEAN(MPI_Comm_call_errhandler, 2);

// Of MPI-1; older programs use them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
int PMPI_Attr_get(MPI_Comm comm, int key, void* value, int* is_set) {
  static const auto library = mend::of_the_library<decltype(&PMPI_Attr_get)>("PMPI_Attr_get");
  return library(mend::resolve_to_get(comm, key), key, value, is_set);
}
MEND_SAME_AS_PMPI(MPI_Attr_get);
MEND_MEAN(MPI_Attr_put, 3);
MEND_MEAN(MPI_Attr_delete, 2);
#pragma GCC diagnostic pop

MEND_MEAN(MPI_Topo_test, 2);
MEND_MEAN(MPI_Cart_coords, 4);
MEND_MEAN(MPI_Cart_get, 5);
MEND_MEAN(MPI_Cart_map, 5);
MEND_MEAN(MPI_Cart_rank, 3);
MEND_MEAN(MPI_Cart_shift, 5);
MEND_MEAN(MPI_Cartdim_get, 2);
MEND_MEAN(MPI_Graph_get, 5);
MEND_MEAN(MPI_Graph_map, 5);
MEND_MEAN(MPI_Graph_neighbors, 4);
MEND_MEAN(MPI_Graph_neighbors_count, 3);
MEND_MEAN(MPI_Graphdims_get, 3);
MEND_MEAN(MPI_Dist_graph_neighbors, 7);
MEND_MEAN(MPI_Dist_graph_neighbors_count, 4);

MEND_MEAN_EXTENSION(MPIX_Comm_ack_failed, 3);
MEND_MEAN_EXTENSION(MPIX_Comm_failure_ack, 1);
MEND_MEAN_EXTENSION(MPIX_Comm_failure_get_acked, 2);
MEND_MEAN_EXTENSION(MPIX_Comm_get_failed, 2);
MEND_MEAN_EXTENSION(MPIX_Comm_is_revoked, 2);

// NOLINTEND(readability-identifier-naming, cppcoreguidelines-macro-usage)
