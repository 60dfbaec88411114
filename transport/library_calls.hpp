// The library's own functions, for messages that are not the application's: those of agreements, and those beneath
// logged calls. By their names, mend's hooks would be called (framework/process/hooks), which would look for the
// communicator among the application's first. A thread that waits in these functions is marked as it is in the hooks.

#pragma once

#include "base/telemetry/activity.hpp"
#include "transport/library_function.hpp"

#include <mpi.h>

namespace mend::library {

inline int send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  static const auto function = of_the_library<decltype(&PMPI_Send)>("PMPI_Send");
  const InMpiCall call(MpiCall::send, InMpiCall::Within::same_call);
  return function(data, count, type, to, tag, comm);
}

inline int receive(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  static const auto function = of_the_library<decltype(&PMPI_Recv)>("PMPI_Recv");
  const InMpiCall call(MpiCall::recv, InMpiCall::Within::same_call);
  return function(data, count, type, from, tag, comm, status);
}

inline int begin_send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  static const auto function = of_the_library<decltype(&PMPI_Isend)>("PMPI_Isend");
  return function(data, count, type, to, tag, comm, request);
}

inline int begin_receive(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  static const auto function = of_the_library<decltype(&PMPI_Irecv)>("PMPI_Irecv");
  return function(data, count, type, from, tag, comm, request);
}

inline int wait(MPI_Request* request, MPI_Status* status) {
  static const auto function = of_the_library<decltype(&PMPI_Wait)>("PMPI_Wait");
  const InMpiCall call(MpiCall::wait);
  return function(request, status);
}

/// This is no poll of the application. If it completes a request, that is a move, and the call that the application is
/// in stays marked.
inline int test(MPI_Request* request, int* is_complete, MPI_Status* status) {
  static const auto function = of_the_library<decltype(&PMPI_Test)>("PMPI_Test");
  const bool is_active = *request != MPI_REQUEST_NULL;
  const int code = function(request, is_complete, status);
  if (code == MPI_SUCCESS && *is_complete != 0 && is_active) {
    const CallMarkKept mark;
    note_activity();
  }
  return code;
}

/// The same for requests whose completion is no progress of the application, as that of a send of a copy.
inline int test_some(int count, MPI_Request* requests, int* completed, int* indices) {
  static const auto function = of_the_library<decltype(&PMPI_Testsome)>("PMPI_Testsome");
  return function(count, requests, completed, indices, MPI_STATUSES_IGNORE);
}

inline int start(MPI_Request* request) {
  static const auto function = of_the_library<decltype(&PMPI_Start)>("PMPI_Start");
  return function(request);
}

}  // namespace mend::library
