// The MPI functions that --mend-rollback local refuses, and how each is called in a test.

#pragma once

#include "framework/process/hooks/functions_since_6.hpp"

#include <mpi.h>
#include <mpi-ext.h>

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

/// One of them. `call`: with this communicator, and nothing for everything else.
struct RefusedFunction {
  std::string name;
  std::function<int(MPI_Comm)> call;
};

template <class... Types>
RefusedFunction refused_function(const char* name, int (*function)(Types...)) {
  return {name, [function](MPI_Comm comm) {
            const auto argument = [&]<class Type>(std::type_identity<Type>) {
              if constexpr (std::is_same_v<Type, MPI_Comm>)
                return comm;
              else
                return Type{};
            };
            return function(argument(std::type_identity<Types>{})...);
          }};
}

inline std::vector<RefusedFunction> refused_functions() {
  std::vector<RefusedFunction> all;
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): the name and the function
#define MEND_ADD(name) all.push_back(refused_function(#name, &(name)))
  MEND_ADD(MPI_Psend_init);
  MEND_ADD(MPI_Precv_init);
  MEND_ADD(MPI_Comm_spawn);
  MEND_ADD(MPI_Comm_spawn_multiple);
  MEND_ADD(MPI_Comm_accept);
  MEND_ADD(MPI_Comm_connect);
  MEND_ADD(MPI_Comm_join);
  MEND_ADD(MPI_Comm_create_from_group);
  MEND_ADD(MPI_Intercomm_create_from_groups);
  MEND_ADD(MPIX_Comm_revoke);
  MEND_ADD(MPIX_Comm_shrink);
  MEND_ADD(MPIX_Comm_agree);
  MEND_ADD(MPIX_Comm_iagree);
  MEND_ADD(MPI_Intercomm_create);
  MEND_ADD(MPI_Intercomm_merge);
  MEND_ADD(MPI_File_open);
  MEND_ADD(MPI_Win_create);
  MEND_ADD(MPI_Win_create_dynamic);
  MEND_ADD(MPI_Win_allocate);
  MEND_ADD(MPI_Win_allocate_shared);
#if OMPI_MAJOR_VERSION >= 6
  MEND_ADD(MPIX_Comm_ishrink);
#endif
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): of a list
#define MEND_ADD_ONE(name, count) MEND_ADD(name);
  MEND_FUNCTIONS_SINCE_6(MEND_ADD_ONE)
#undef MEND_ADD_ONE
#undef MEND_ADD
  return all;
}
