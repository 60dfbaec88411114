#pragma once

#include "base/telemetry/activity.hpp"
#include "transport/library_function.hpp"
#include "transport/mpi.hpp"

#include <mpi.h>

#include <optional>

namespace mend {

/// The library's own functions, which are called for each logged message. By their names, mend's hooks would be called,
/// which would look for the virtual communicator first. A thread that waits in them is marked as it is in the hooks.
namespace library {

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

}  // namespace library

/// Makes MPI's own call. Its errors are returned.
template <class Call>
int quietly(Call call) {
  const ErrorsReturned quiet;
  return call();
}

/// Returns the size of a value of one of MPI's own types whose layout in memory is the packed one; otherwise nothing.
std::optional<int> plain_size(MPI_Datatype type);

/// A datatype that stays valid when the application frees it.
class KeptType {
 public:
  explicit KeptType(MPI_Datatype type) : type_(type), is_owned_(!plain_size(type)) {
    if (is_owned_) check_mpi(PMPI_Type_dup(type, &type_), "MPI_Type_dup");
  }
  ~KeptType() {
    if (is_owned_) PMPI_Type_free(&type_);
  }
  KeptType(const KeptType&) = delete;
  KeptType& operator=(const KeptType&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_;
  bool is_owned_;
};

}  // namespace mend
