// Blocking MPI calls of the application, and calls that poll. Each call is recorded while it lasts
// (base/telemetry/activity.hpp), so that a report can say in which calls ranks wait for each other. The functions of
// MPI's profiling interface are intercepted, as in communicator_hooks.cpp.

#include "base/telemetry/activity.hpp"
#include "framework/process/hooks/communicator_hooks.hpp"
#include "framework/process/hooks/ended_by_failure.hpp"
#include "framework/process/hooks/fortran_caller.hpp"
#include "framework/process/hooks/started_requests.hpp"
#include "framework/process/hooks/world_substitution.hpp"
#include "transport/library_function.hpp"
#include "framework/local_rollback/blocks.hpp"
#include "framework/local_rollback/logged_calls.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace {

std::ptrdiff_t count_left(std::span<const MPI_Request> requests) {
  return std::ranges::count_if(requests, [](MPI_Request one) { return one != MPI_REQUEST_NULL; });
}

/// Notes a move if `call`, which sets `*flag` if all requests are complete, has completed some. It sets the flag for
/// inactive requests, too, which is no move. Neither is a probe: completing the receive of its message is one.
template <class Call>
int note_if_completed(int count, const MPI_Request* requests, const int* flag, Call call) {
  const std::span<const MPI_Request> all(requests, static_cast<std::size_t>(std::max(count, 0)));
  const std::ptrdiff_t before = count_left(all);
  const int code = call();
  if (code != MPI_SUCCESS || *flag == 0) return code;
  std::size_t ended = 0;  // of the persistent ones, which are not null then
  for (const MPI_Request one : all) ended += mend::started_requests().erase(one);
  if (ended > 0 || count_left(all) < before) mend::note_activity();
  return code;
}

}  // namespace

namespace mend {
namespace {

/// Replaces an MPI_Sendrecv that receives from MPI_PROC_NULL by a send and a receive. If the send fails on a revoked
/// communicator, Open MPI (5.0 and 6.0) cancels the receive even if it was not begun, and crashes.
int send_without_source(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                        MPI_Status* status) {
  static const auto send = of_the_library<decltype(&PMPI_Send)>("PMPI_Send");
  static const auto receive = of_the_library<decltype(&PMPI_Recv)>("PMPI_Recv");
  const int code = send(data, count, type, to, tag, comm);
  return code == MPI_SUCCESS ? receive(nullptr, 0, type, MPI_PROC_NULL, MPI_ANY_TAG, comm, status) : code;
}

/// Has the library complete requests, some of which are logged receives. `finish` completes the logged receives first.
/// They are forgotten when the library has completed them.
template <class Finish, class Library>
int complete(LoggedCalls& logged, int count, MPI_Request* requests, Finish finish, Library library) {
  return logged.in_call([&] {
    const std::span<MPI_Request> all(requests, static_cast<std::size_t>(count));
    const LoggedMessages::PersistentReplaced replaced(logged.messages(), all);
    const std::vector<MPI_Request> before(all.begin(), all.end());
    const int code = finish(before);
    if (code != MPI_SUCCESS) return code;
    const int of_library = library();
    logged.messages().forget(before, all);
    return of_library;
  });
}

/// Names all requests as complete, for `caller`. The wrapper for Fortran adds 1 to the indices only if the call
/// succeeds.
void name_all(int count, int* done, int* indices, const void* caller) {
  *done = count;
  std::iota(indices, indices + count, is_in_fortran_wrapper(caller) ? 1 : 0);
}

/// Returns the object that logs calls if it has one of the requests; otherwise null.
LoggedCalls* owner_of(int count, const MPI_Request* requests) {
  LoggedCalls* const logged = logged_calls();
  const bool has_any =
      logged != nullptr && count > 0 && logged->messages().has_any({requests, static_cast<std::size_t>(count)});
  return has_any ? logged : nullptr;
}

/// Has the library look at requests, by `look`. If some are logged, those that can be completed now are completed
/// first. If this rank has to leave the body, calls `end`.
template <class Look, class End>
int look_at(int count, const MPI_Request* requests, Look look, End end) {
  LoggedCalls* const logged = owner_of(count, requests);
  if (logged == nullptr) return look(requests);
  std::vector<MPI_Request> all(requests, requests + count);  // persistent ones are replaced there
  const int code = complete(
      *logged, count, all.data(), [&](const auto& before) { return logged->messages().try_to_finish(before); },
      [&] { return look(all.data()); });
  return ended_by_failure(*logged, code, end);
}

}  // namespace
}  // namespace mend

// NOLINTBEGIN(readability-identifier-naming): MPI's names

using mend::InMpiCall;
using mend::InPoll;
using mend::MpiCall;
using mend::of_the_library;

int PMPI_Send(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Send)>("PMPI_Send");
  const InMpiCall call(MpiCall::send);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] {
      return logged->messages().send(virtual_comm, mend::Traffic::messages, buf, count, type, to, tag,
                                     mend::LoggedMessages::SendEnds::as_send);
    });
  }
  return library(buf, count, type, to, tag, comm);
}
MEND_SAME_AS_PMPI(MPI_Send);

int PMPI_Ssend(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Ssend)>("PMPI_Ssend");
  const InMpiCall call(MpiCall::ssend);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] {
      return logged->messages().send(virtual_comm, mend::Traffic::messages, buf, count, type, to, tag,
                                     mend::LoggedMessages::SendEnds::as_synchronous);
    });
  }
  return library(buf, count, type, to, tag, comm);
}
MEND_SAME_AS_PMPI(MPI_Ssend);

int PMPI_Recv(void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Recv)>("PMPI_Recv");
  const InMpiCall call(MpiCall::recv);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] {
      return logged->messages().receive(virtual_comm, mend::Traffic::messages, buf, count, type, from, tag, status);
    });
  }
  return library(buf, count, type, from, tag, comm, status);
}
MEND_SAME_AS_PMPI(MPI_Recv);

int PMPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in, int in_count,
                  MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* status) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Sendrecv)>("PMPI_Sendrecv");
  const InMpiCall call(MpiCall::sendrecv);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] {
      const int code = logged->messages().send(virtual_comm, mend::Traffic::messages, out, out_count, out_type, to,
                                               out_tag, mend::LoggedMessages::SendEnds::at_once);
      if (code != MPI_SUCCESS) return code;
      return logged->messages().receive(virtual_comm, mend::Traffic::messages, in, in_count, in_type, from, in_tag,
                                        status);
    });
  }
  if (from == MPI_PROC_NULL) return mend::send_without_source(out, out_count, out_type, to, out_tag, comm, status);
  return library(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, status);
}
MEND_SAME_AS_PMPI(MPI_Sendrecv);

int PMPI_Sendrecv_replace(void* buf, int count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,
                          MPI_Comm comm, MPI_Status* status) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Sendrecv_replace)>("PMPI_Sendrecv_replace");
  const InMpiCall call(MpiCall::sendrecv_replace);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] {
      const int code = logged->messages().send(virtual_comm, mend::Traffic::messages, buf, count, type, to, out_tag,
                                               mend::LoggedMessages::SendEnds::at_once);
      return code != MPI_SUCCESS ? code
                                 : logged->messages().receive(virtual_comm, mend::Traffic::messages, buf, count, type,
                                                              from, in_tag, status);
    });
  }
  if (from == MPI_PROC_NULL) return mend::send_without_source(buf, count, type, to, out_tag, comm, status);
  return library(buf, count, type, to, out_tag, from, in_tag, comm, status);
}
MEND_SAME_AS_PMPI(MPI_Sendrecv_replace);

int PMPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status* status) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Probe)>("PMPI_Probe");
  const InMpiCall call(MpiCall::probe);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] { return logged->messages().probe(virtual_comm, from, tag, nullptr, status); });
  }
  return library(from, tag, comm, status);
}
MEND_SAME_AS_PMPI(MPI_Probe);

int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  static const auto library = of_the_library<decltype(&PMPI_Wait)>("PMPI_Wait");
  const InMpiCall call(MpiCall::wait);
  if (auto* logged = mend::owner_of(1, request)) {
    return mend::complete(
        *logged, 1, request, [&](const auto& before) { return logged->messages().finish(before); },
        [&] { return library(request, status); });
  }
  return mend::notice_made(1, request, [&] { return library(request, status); });
}
MEND_SAME_AS_PMPI(MPI_Wait);

int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  static const auto library = of_the_library<decltype(&PMPI_Waitall)>("PMPI_Waitall");
  const InMpiCall call(MpiCall::waitall);
  if (auto* logged = mend::owner_of(count, requests)) {
    return mend::complete(
        *logged, count, requests, [&](const auto& before) { return logged->messages().finish(before); },
        [&] { return library(count, requests, statuses); });
  }
  return mend::notice_made(count, requests, [&] { return library(count, requests, statuses); });
}
MEND_SAME_AS_PMPI(MPI_Waitall);

int PMPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  static const auto library = of_the_library<decltype(&PMPI_Waitany)>("PMPI_Waitany");
  const InMpiCall call(MpiCall::waitany);
  if (auto* logged = mend::owner_of(count, requests)) {
    for (;;) {
      int flag = 0;
      const int code = mend::complete(
          *logged, count, requests, [&](const auto& before) { return logged->messages().try_to_finish(before); },
          [&] { return PMPI_Testany(count, requests, index, &flag, status); });
      if (code != MPI_SUCCESS) return mend::ended_by_failure(*logged, code, [&] { *index = MPI_UNDEFINED; });
      if (flag != 0) return code;
    }
  }
  return mend::notice_made(count, requests, [&] { return library(count, requests, index, status); });
}
MEND_SAME_AS_PMPI(MPI_Waitany);

int PMPI_Waitsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  static const auto library = of_the_library<decltype(&PMPI_Waitsome)>("PMPI_Waitsome");
  const void* const caller = __builtin_return_address(0);
  const InMpiCall call(MpiCall::waitsome);
  if (auto* logged = mend::owner_of(count, requests)) {
    for (;;) {
      const int code = mend::complete(
          *logged, count, requests, [&](const auto& before) { return logged->messages().try_to_finish(before); },
          [&] { return PMPI_Testsome(count, requests, done, indices, statuses); });
      if (code != MPI_SUCCESS)
        return mend::ended_by_failure(*logged, code, [&] { mend::name_all(count, done, indices, caller); });
      if (*done != 0) return code;
    }
  }
  return mend::notice_made(count, requests, [&] { return library(count, requests, done, indices, statuses); });
}
MEND_SAME_AS_PMPI(MPI_Waitsome);

int PMPI_Barrier(MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Barrier)>("PMPI_Barrier");
  const InMpiCall call(MpiCall::barrier);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] { return logged->collectives().barrier(virtual_comm); });
  }
  return library(comm);
}
MEND_SAME_AS_PMPI(MPI_Barrier);

int PMPI_Bcast(void* buf, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Bcast)>("PMPI_Bcast");
  const InMpiCall call(MpiCall::bcast);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] { return logged->collectives().bcast(virtual_comm, buf, count, type, root); });
  }
  return library(buf, count, type, root, comm);
}
MEND_SAME_AS_PMPI(MPI_Bcast);

int PMPI_Reduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Reduce)>("PMPI_Reduce");
  const InMpiCall call(MpiCall::reduce);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] { return logged->collectives().reduce(virtual_comm, out, in, count, type, op, root); });
  }
  return library(out, in, count, type, op, root, comm);
}
MEND_SAME_AS_PMPI(MPI_Reduce);

int PMPI_Allreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Allreduce)>("PMPI_Allreduce");
  const InMpiCall call(MpiCall::allreduce);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] { return logged->collectives().allreduce(virtual_comm, out, in, count, type, op); });
  }
  return library(out, in, count, type, op, comm);
}
MEND_SAME_AS_PMPI(MPI_Allreduce);

int PMPI_Reduce_scatter(const void* out, void* in, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Reduce_scatter)>("PMPI_Reduce_scatter");
  const InMpiCall call(MpiCall::reduce_scatter);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call(
        [&] { return logged->collectives().reduce_scatter(virtual_comm, out, in, counts, type, op); });
  }
  return library(out, in, counts, type, op, comm);
}
MEND_SAME_AS_PMPI(MPI_Reduce_scatter);

int PMPI_Reduce_scatter_block(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Reduce_scatter_block)>("PMPI_Reduce_scatter_block");
  const InMpiCall call(MpiCall::reduce_scatter_block);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] {
      const auto blocks = mend::Blocks::equal(virtual_comm.size, count);
      return logged->collectives().reduce_scatter(virtual_comm, out, in, blocks.counts.data(), type, op);
    });
  }
  return library(out, in, count, type, op, comm);
}
MEND_SAME_AS_PMPI(MPI_Reduce_scatter_block);

int PMPI_Scan(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Scan)>("PMPI_Scan");
  const InMpiCall call(MpiCall::scan);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] { return logged->collectives().scan(virtual_comm, out, in, count, type, op); });
  }
  return library(out, in, count, type, op, comm);
}
MEND_SAME_AS_PMPI(MPI_Scan);

int PMPI_Exscan(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Exscan)>("PMPI_Exscan");
  const InMpiCall call(MpiCall::exscan);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] { return logged->collectives().exscan(virtual_comm, out, in, count, type, op); });
  }
  return library(out, in, count, type, op, comm);
}
MEND_SAME_AS_PMPI(MPI_Exscan);

int PMPI_Gather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                int root, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Gather)>("PMPI_Gather");
  const InMpiCall call(MpiCall::gather);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] {
      const auto blocks = mend::Blocks::equal(virtual_comm.size, in_count);
      return logged->collectives().gatherv(virtual_comm, out, out_count, out_type, in, blocks.counts.data(),
                                           blocks.offsets.data(), in_type, root);
    });
  }
  return library(out, out_count, out_type, in, in_count, in_type, root, comm);
}
MEND_SAME_AS_PMPI(MPI_Gather);

int PMPI_Gatherv(const void* out, int out_count, MPI_Datatype out_type, void* in, const int in_counts[],
                 const int offsets[], MPI_Datatype in_type, int root, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Gatherv)>("PMPI_Gatherv");
  const InMpiCall call(MpiCall::gatherv);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] {
      return logged->collectives().gatherv(virtual_comm, out, out_count, out_type, in, in_counts, offsets, in_type,
                                           root);
    });
  }
  return library(out, out_count, out_type, in, in_counts, offsets, in_type, root, comm);
}
MEND_SAME_AS_PMPI(MPI_Gatherv);

int PMPI_Scatter(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                 int root, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Scatter)>("PMPI_Scatter");
  const InMpiCall call(MpiCall::scatter);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] {
      const auto blocks = mend::Blocks::equal(virtual_comm.size, out_count);
      return logged->collectives().scatterv(virtual_comm, out, blocks.counts.data(), blocks.offsets.data(), out_type,
                                            in, in_count, in_type, root);
    });
  }
  return library(out, out_count, out_type, in, in_count, in_type, root, comm);
}
MEND_SAME_AS_PMPI(MPI_Scatter);

int PMPI_Scatterv(const void* out, const int out_counts[], const int offsets[], MPI_Datatype out_type, void* in,
                  int in_count, MPI_Datatype in_type, int root, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Scatterv)>("PMPI_Scatterv");
  const InMpiCall call(MpiCall::scatterv);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] {
      return logged->collectives().scatterv(virtual_comm, out, out_counts, offsets, out_type, in, in_count, in_type,
                                            root);
    });
  }
  return library(out, out_counts, offsets, out_type, in, in_count, in_type, root, comm);
}
MEND_SAME_AS_PMPI(MPI_Scatterv);

int PMPI_Allgather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                   MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Allgather)>("PMPI_Allgather");
  const InMpiCall call(MpiCall::allgather);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] {
      const auto blocks = mend::Blocks::equal(virtual_comm.size, in_count);
      return logged->collectives().allgatherv(virtual_comm, out, out_count, out_type, in, blocks.counts.data(),
                                              blocks.offsets.data(), in_type);
    });
  }
  return library(out, out_count, out_type, in, in_count, in_type, comm);
}
MEND_SAME_AS_PMPI(MPI_Allgather);

int PMPI_Allgatherv(const void* out, int out_count, MPI_Datatype out_type, void* in, const int in_counts[],
                    const int offsets[], MPI_Datatype in_type, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Allgatherv)>("PMPI_Allgatherv");
  const InMpiCall call(MpiCall::allgatherv);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] {
      return logged->collectives().allgatherv(virtual_comm, out, out_count, out_type, in, in_counts, offsets, in_type);
    });
  }
  return library(out, out_count, out_type, in, in_counts, offsets, in_type, comm);
}
MEND_SAME_AS_PMPI(MPI_Allgatherv);

int PMPI_Alltoall(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                  MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Alltoall)>("PMPI_Alltoall");
  const InMpiCall call(MpiCall::alltoall);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] {
      const auto sent = mend::Blocks::equal(virtual_comm.size, out_count);
      const auto received = mend::Blocks::equal(virtual_comm.size, in_count);
      return logged->collectives().alltoallv(virtual_comm, out, sent.counts.data(), sent.offsets.data(), out_type, in,
                                             received.counts.data(), received.offsets.data(), in_type);
    });
  }
  return library(out, out_count, out_type, in, in_count, in_type, comm);
}
MEND_SAME_AS_PMPI(MPI_Alltoall);

int PMPI_Alltoallv(const void* out, const int out_counts[], const int out_offsets[], MPI_Datatype out_type, void* in,
                   const int in_counts[], const int in_offsets[], MPI_Datatype in_type, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Alltoallv)>("PMPI_Alltoallv");
  const InMpiCall call(MpiCall::alltoallv);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] {
      return logged->collectives().alltoallv(virtual_comm, out, out_counts, out_offsets, out_type, in, in_counts,
                                             in_offsets, in_type);
    });
  }
  return library(out, out_counts, out_offsets, out_type, in, in_counts, in_offsets, in_type, comm);
}
MEND_SAME_AS_PMPI(MPI_Alltoallv);

// These calls poll. MPI_Test, MPI_Testall, MPI_Testany and MPI_Testsome are a move if they complete a request. If all
// requests are inactive, the first two report them as complete, and the last two name none. MPI_Request_get_status and
// MPI_Iprobe only look. They are no move, unless mend receives a logged message in them, or waits there for one.

int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  const InPoll poll;
  static const auto library = of_the_library<decltype(&PMPI_Test)>("PMPI_Test");
  const auto test = [&] { return note_if_completed(1, request, flag, [&] { return library(request, flag, status); }); };
  if (auto* logged = mend::owner_of(1, request)) {
    return mend::ended_by_failure(
        *logged,
        mend::complete(
            *logged, 1, request, [&](const auto& before) { return logged->messages().try_to_finish(before); }, test),
        [&] { *flag = 1; });
  }
  return mend::notice_made(1, request, test);
}
MEND_SAME_AS_PMPI(MPI_Test);

int PMPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  const InPoll poll;
  static const auto library = of_the_library<decltype(&PMPI_Testall)>("PMPI_Testall");
  const auto test = [&] {
    return note_if_completed(count, requests, flag, [&] { return library(count, requests, flag, statuses); });
  };
  if (auto* logged = mend::owner_of(count, requests)) {
    return mend::ended_by_failure(
        *logged,
        mend::complete(
            *logged, count, requests, [&](const auto& before) { return logged->messages().try_to_finish(before); },
            test),
        [&] { *flag = 1; });
  }
  return mend::notice_made(count, requests, test);
}
MEND_SAME_AS_PMPI(MPI_Testall);

int PMPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  const InPoll poll;
  static const auto library = of_the_library<decltype(&PMPI_Testany)>("PMPI_Testany");
  const auto test = [&] {
    const int code = library(count, requests, index, flag, status);
    if (code == MPI_SUCCESS && *flag != 0 && *index != MPI_UNDEFINED) mend::note_activity();
    return code;
  };
  if (auto* logged = mend::owner_of(count, requests)) {
    return mend::ended_by_failure(
        *logged,
        mend::complete(
            *logged, count, requests, [&](const auto& before) { return logged->messages().try_to_finish(before); },
            test),
        [&] {
          *flag = 1;
          *index = MPI_UNDEFINED;
        });
  }
  return mend::notice_made(count, requests, test);
}
MEND_SAME_AS_PMPI(MPI_Testany);

int PMPI_Testsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  const InPoll poll;
  static const auto library = of_the_library<decltype(&PMPI_Testsome)>("PMPI_Testsome");
  const void* const caller = __builtin_return_address(0);
  const auto test = [&] {
    const int code = library(count, requests, done, indices, statuses);
    if (code == MPI_SUCCESS && *done > 0) mend::note_activity();
    return code;
  };
  if (auto* logged = mend::owner_of(count, requests)) {
    return mend::ended_by_failure(
        *logged,
        mend::complete(
            *logged, count, requests, [&](const auto& before) { return logged->messages().try_to_finish(before); },
            test),
        [&] { mend::name_all(count, done, indices, caller); });
  }
  return mend::notice_made(count, requests, test);
}
MEND_SAME_AS_PMPI(MPI_Testsome);

int PMPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  const InPoll poll;
  static const auto library = of_the_library<decltype(&PMPI_Request_get_status)>("PMPI_Request_get_status");
  return mend::look_at(
      1, &request, [&](const MPI_Request* one) { return library(*one, flag, status); }, [&] { *flag = 1; });
}
MEND_SAME_AS_PMPI(MPI_Request_get_status);

#if OMPI_MAJOR_VERSION >= 6

int PMPI_Request_get_status_all(int count, const MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  const InPoll poll;
  static const auto library = of_the_library<decltype(&PMPI_Request_get_status_all)>("PMPI_Request_get_status_all");
  return mend::look_at(
      count, requests, [&](const MPI_Request* all) { return library(count, all, flag, statuses); }, [&] { *flag = 1; });
}
MEND_SAME_AS_PMPI(MPI_Request_get_status_all);

int PMPI_Request_get_status_any(int count, const MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  const InPoll poll;
  static const auto library = of_the_library<decltype(&PMPI_Request_get_status_any)>("PMPI_Request_get_status_any");
  return mend::look_at(
      count, requests, [&](const MPI_Request* all) { return library(count, all, index, flag, status); },
      [&] {
        *flag = 1;
        *index = MPI_UNDEFINED;
      });
}
MEND_SAME_AS_PMPI(MPI_Request_get_status_any);

int PMPI_Request_get_status_some(int count, const MPI_Request requests[], int* done, int indices[],
                                 MPI_Status statuses[]) {
  const InPoll poll;
  static const auto library = of_the_library<decltype(&PMPI_Request_get_status_some)>("PMPI_Request_get_status_some");
  const void* const caller = __builtin_return_address(0);
  return mend::look_at(
      count, requests, [&](const MPI_Request* all) { return library(count, all, done, indices, statuses); },
      [&] { mend::name_all(count, done, indices, caller); });
}
MEND_SAME_AS_PMPI(MPI_Request_get_status_some);

#endif

int PMPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  const InPoll poll;
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Iprobe)>("PMPI_Iprobe");
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return mend::ended_by_failure(
        *logged, logged->in_call([&] { return logged->messages().probe(virtual_comm, from, tag, flag, status); }),
        [&] { library(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_SELF, flag, status); });
  }
  return library(from, tag, comm, flag, status);
}
MEND_SAME_AS_PMPI(MPI_Iprobe);

// NOLINTEND(readability-identifier-naming)
