// MPI calls that start an operation. On session.comm() under --mend-rollback local, they are logged. The functions of
// MPI's profiling interface are intercepted, as in call_hooks.cpp.

#include "base/telemetry/activity.hpp"
#include "framework/process/body_guard.hpp"
#include "framework/process/hooks/ended_by_failure.hpp"
#include "framework/process/hooks/started_requests.hpp"
#include "framework/process/hooks/world_substitution.hpp"
#include "transport/library_function.hpp"
#include "framework/process/process_context.hpp"
#include "framework/local_rollback/logged_calls.hpp"

#include <mpi.h>

#include <optional>

namespace {

using Ends = mend::LoggedMessages::SendEnds;
using mend::Traffic;

// A request becomes null if its call fails: programs in C that do not look at codes wait for it.

/// Logs and sends a copy of the message, so the application's request is complete at once.
int begin_send(mend::LoggedCalls& logged, const void* data, int count, MPI_Datatype type, int to, int tag,
               MPI_Comm comm, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  const mend::VirtualComm& virtual_comm = *logged.virtual_comm_of(comm);
  return logged.in_call([&] {
    const int code = logged.messages().send(virtual_comm, Traffic::messages, data, count, type, to, tag, Ends::at_once);
    if (code != MPI_SUCCESS) return code;
    return PMPI_Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
  });
}

/// The application's request is complete when the message has been received.
int begin_synchronous_send(mend::LoggedCalls& logged, const void* data, int count, MPI_Datatype type, int to, int tag,
                           MPI_Comm comm, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  const mend::VirtualComm& virtual_comm = *logged.virtual_comm_of(comm);
  return logged.in_call(
      [&] { return logged.messages().begin_synchronous_send(virtual_comm, data, count, type, to, tag, request); });
}

/// The arguments of MPI_Isendrecv.
struct Exchange {
  const void* out;
  int out_count;
  MPI_Datatype out_type;
  int to;
  int out_tag;
  void* in;
  int in_count;
  MPI_Datatype in_type;
  int from;
  int in_tag;
};

/// Sends the message from its copy, so the application's request is that of the receive.
int begin_exchange(mend::LoggedCalls& logged, const Exchange& one, MPI_Comm comm, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  const mend::VirtualComm& virtual_comm = *logged.virtual_comm_of(comm);
  return logged.in_call([&] {
    mend::LoggedMessages& messages = logged.messages();
    const int code = messages.send(virtual_comm, Traffic::messages, one.out, one.out_count, one.out_type, one.to,
                                   one.out_tag, Ends::at_once);
    if (code != MPI_SUCCESS) return code;
    return messages.begin_receive(virtual_comm, one.in, one.in_count, one.in_type, one.from, one.in_tag, request);
  });
}

int make_persistent(mend::LoggedCalls& logged, const void* data, int count, MPI_Datatype type, int peer, int tag,
                    MPI_Comm comm, std::optional<Ends> ends, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  const mend::VirtualComm& virtual_comm = *logged.virtual_comm_of(comm);
  return logged.in_call(
      [&] { return logged.messages().make_persistent(virtual_comm, data, count, type, peer, tag, ends, request); });
}

/// Returns the object that logs calls if this is one of its persistent requests; otherwise null.
mend::LoggedCalls* owner_of_persistent(MPI_Request request) {
  mend::LoggedCalls* const logged = mend::logged_calls();
  return logged != nullptr && logged->messages().is_persistent(request) ? logged : nullptr;
}

/// Records a persistent request that the library has made.
int made(int code, MPI_Comm comm, const MPI_Request* request) {
  if (code == MPI_SUCCESS) mend::process_context().persistent_requests.note_made(comm, *request);
  return code;
}

/// Records a persistent request that was started. Returns `code`, which is MPI's.
int note_started(int code, MPI_Request request) {
  if (code == MPI_SUCCESS) mend::started_requests().insert(request);
  return code;
}

int refuse_outdated() {
  return mend::refuse_wrong_use(
      "MPI_Start was called for a request of before a recovery: make persistent requests again, with the present "
      "session.comm() or a communicator made of it");
}

/// Returns the object that logs calls if it has matched this message; otherwise null.
mend::LoggedCalls* owner_of_matched(MPI_Message message) {
  mend::LoggedCalls* const logged = mend::logged_calls();
  return logged != nullptr && logged->messages().is_matched(message) ? logged : nullptr;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): MPI's names

using mend::of_the_library;

int PMPI_Rsend(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Rsend)>("PMPI_Rsend");
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] {
      return logged->messages().send(virtual_comm, Traffic::messages, buf, count, type, to, tag, Ends::as_send);
    });
  }
  return library(buf, count, type, to, tag, comm);
}
MEND_SAME_AS_PMPI(MPI_Rsend);

int PMPI_Bsend(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Bsend)>("PMPI_Bsend");
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] {
      return logged->messages().send(virtual_comm, Traffic::messages, buf, count, type, to, tag, Ends::at_once);
    });
  }
  return library(buf, count, type, to, tag, comm);
}
MEND_SAME_AS_PMPI(MPI_Bsend);

int PMPI_Isend(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Isend)>("PMPI_Isend");
  if (auto* logged = mend::logged_calls_of(comm)) return begin_send(*logged, buf, count, type, to, tag, comm, request);
  return library(buf, count, type, to, tag, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Isend);

int PMPI_Irsend(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Irsend)>("PMPI_Irsend");
  if (auto* logged = mend::logged_calls_of(comm)) return begin_send(*logged, buf, count, type, to, tag, comm, request);
  return library(buf, count, type, to, tag, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Irsend);

int PMPI_Ibsend(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Ibsend)>("PMPI_Ibsend");
  if (auto* logged = mend::logged_calls_of(comm)) return begin_send(*logged, buf, count, type, to, tag, comm, request);
  return library(buf, count, type, to, tag, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ibsend);

int PMPI_Irecv(void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Irecv)>("PMPI_Irecv");
  if (auto* logged = mend::logged_calls_of(comm)) {
    *request = MPI_REQUEST_NULL;
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call(
        [&] { return logged->messages().begin_receive(virtual_comm, buf, count, type, from, tag, request); });
  }
  return library(buf, count, type, from, tag, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Irecv);

int PMPI_Isendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in, int in_count,
                   MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Isendrecv)>("PMPI_Isendrecv");
  if (auto* logged = mend::logged_calls_of(comm)) {
    const Exchange exchange{out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag};
    return begin_exchange(*logged, exchange, comm, request);
  }
  return library(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Isendrecv);

int PMPI_Isendrecv_replace(void* buf, int count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,
                           MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Isendrecv_replace)>("PMPI_Isendrecv_replace");
  if (auto* logged = mend::logged_calls_of(comm)) {
    const Exchange exchange{buf, count, type, to, out_tag, buf, count, type, from, in_tag};
    return begin_exchange(*logged, exchange, comm, request);
  }
  return library(buf, count, type, to, out_tag, from, in_tag, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Isendrecv_replace);

int PMPI_Issend(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Issend)>("PMPI_Issend");
  if (auto* logged = mend::logged_calls_of(comm))
    return begin_synchronous_send(*logged, buf, count, type, to, tag, comm, request);
  return library(buf, count, type, to, tag, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Issend);

int PMPI_Send_init(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Send_init)>("PMPI_Send_init");
  if (auto* logged = mend::logged_calls_of(comm))
    return make_persistent(*logged, buf, count, type, to, tag, comm, Ends::at_once, request);
  return made(library(buf, count, type, to, tag, comm, request), comm, request);
}
MEND_SAME_AS_PMPI(MPI_Send_init);

int PMPI_Ssend_init(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Ssend_init)>("PMPI_Ssend_init");
  if (auto* logged = mend::logged_calls_of(comm))
    return make_persistent(*logged, buf, count, type, to, tag, comm, Ends::as_synchronous, request);
  return made(library(buf, count, type, to, tag, comm, request), comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ssend_init);

int PMPI_Rsend_init(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Rsend_init)>("PMPI_Rsend_init");
  if (auto* logged = mend::logged_calls_of(comm))
    return make_persistent(*logged, buf, count, type, to, tag, comm, Ends::at_once, request);
  return made(library(buf, count, type, to, tag, comm, request), comm, request);
}
MEND_SAME_AS_PMPI(MPI_Rsend_init);

int PMPI_Bsend_init(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Bsend_init)>("PMPI_Bsend_init");
  if (auto* logged = mend::logged_calls_of(comm))
    return make_persistent(*logged, buf, count, type, to, tag, comm, Ends::at_once, request);
  return made(library(buf, count, type, to, tag, comm, request), comm, request);
}
MEND_SAME_AS_PMPI(MPI_Bsend_init);

int PMPI_Recv_init(void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Recv_init)>("PMPI_Recv_init");
  if (auto* logged = mend::logged_calls_of(comm))
    return make_persistent(*logged, buf, count, type, from, tag, comm, std::nullopt, request);
  return made(library(buf, count, type, from, tag, comm, request), comm, request);
}
MEND_SAME_AS_PMPI(MPI_Recv_init);

int PMPI_Start(MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Start)>("PMPI_Start");
  if (auto* logged = owner_of_persistent(*request)) {
    if (const std::optional<int> code = logged->messages().begin_persistent(*request))
      return note_started(*code, *request);
    return note_started(logged->in_call([&] { return logged->messages().start(*request); }), *request);
  }
  if (mend::process_context().persistent_requests.are_outdated(1, request)) return refuse_outdated();
  const int code = library(request);  // which may set another handle
  return note_started(code, *request);
}
MEND_SAME_AS_PMPI(MPI_Start);

int PMPI_Startall(int count, MPI_Request requests[]) {
  static const auto library = of_the_library<decltype(&PMPI_Startall)>("PMPI_Startall");
  if (mend::logged_calls() == nullptr) {
    if (mend::process_context().persistent_requests.are_outdated(count, requests)) return refuse_outdated();
    const int code = library(count, requests);
    for (int i = 0; i < count; ++i) note_started(code, requests[i]);
    return code;
  }
  for (int i = 0; i < count; ++i)
    if (const int code = PMPI_Start(&requests[i]); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}
MEND_SAME_AS_PMPI(MPI_Startall);

int PMPI_Request_free(MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Request_free)>("PMPI_Request_free");
  mend::started_requests().erase(*request);
  if (auto* logged = owner_of_persistent(*request))
    return logged->in_call([&] { return logged->messages().free_persistent(request); });
  if (auto* logged = mend::logged_calls(); logged != nullptr && logged->messages().has_any({request, 1}))
    return logged->in_call([&] { return logged->messages().free_begun(request); });
  mend::process_context().persistent_requests.note_freed(*request);
  return library(request);
}
MEND_SAME_AS_PMPI(MPI_Request_free);

int PMPI_Cancel(MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Cancel)>("PMPI_Cancel");
  auto* const logged = mend::logged_calls();
  if (logged != nullptr && logged->messages().has_any({request, 1}))
    return logged->in_call([&] { return logged->messages().cancel(*request); });
  return library(request);
}
MEND_SAME_AS_PMPI(MPI_Cancel);

int PMPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Mprobe)>("PMPI_Mprobe");
  const mend::InMpiCall call(mend::MpiCall::mprobe);
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    return logged->in_call([&] { return logged->messages().match(virtual_comm, from, tag, nullptr, message, status); });
  }
  return library(from, tag, comm, message, status);
}
MEND_SAME_AS_PMPI(MPI_Mprobe);

int PMPI_Improbe(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  const mend::InPoll poll;
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Improbe)>("PMPI_Improbe");
  if (auto* logged = mend::logged_calls_of(comm)) {
    const mend::VirtualComm& virtual_comm = *logged->virtual_comm_of(comm);
    const int found =
        logged->in_call([&] { return logged->messages().match(virtual_comm, from, tag, flag, message, status); });
    return mend::ended_by_failure(*logged, found,
                                  [&] { library(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_SELF, flag, message, status); });
  }
  const int code = library(from, tag, comm, flag, message, status);
  if (code == MPI_SUCCESS && *flag != 0) mend::note_activity();
  return code;
}
MEND_SAME_AS_PMPI(MPI_Improbe);

int PMPI_Mrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  static const auto library = of_the_library<decltype(&PMPI_Mrecv)>("PMPI_Mrecv");
  if (auto* logged = owner_of_matched(*message))
    return logged->in_call([&] { return logged->messages().receive_matched(buf, count, type, message, status); });
  return library(buf, count, type, message, status);
}
MEND_SAME_AS_PMPI(MPI_Mrecv);

int PMPI_Imrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Imrecv)>("PMPI_Imrecv");
  if (auto* logged = owner_of_matched(*message)) {
    *request = MPI_REQUEST_NULL;
    return logged->in_call(
        [&] { return logged->messages().begin_receive_matched(buf, count, type, message, request); });
  }
  return library(buf, count, type, message, request);
}
MEND_SAME_AS_PMPI(MPI_Imrecv);

// NOLINTEND(readability-identifier-naming)
