// Persistent requests of logged messages.

#include "base/error.hpp"
#include "framework/local_rollback/messages/logged_messages.hpp"
#include "framework/local_rollback/plain_calls.hpp"
#include "framework/process/process_context.hpp"
#include "transport/library_calls.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace mend {

int LoggedMessages::make_persistent(const VirtualComm& virtual_comm, const void* data, int count, MPI_Datatype type,
                                    int peer, int tag, std::optional<SendEnds> ends, MPI_Request* request) {
  if (!ends) note_source(peer, "MPI_Recv_init");
  const bool may_be_any = !ends && peer == MPI_ANY_SOURCE;
  if (peer != MPI_PROC_NULL && !may_be_any && (peer < 0 || peer >= virtual_comm.size)) return MPI_ERR_RANK;
  const bool owns_type = !is_of_mpi(type);  // the application may free it
  if (owns_type) {
    if (const int code = quietly([&] { return PMPI_Type_dup(type, &type); }); code != MPI_SUCCESS) return code;
  }
  const int code = ends ? PMPI_Send_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request)
                        : PMPI_Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
  if (code == MPI_SUCCESS) {
    persistent_[*request] = {&virtual_comm, const_cast<void*>(data), count, type, owns_type, peer, tag, ends};
    process_context().persistent_requests.note_logged(*request);
  } else if (owns_type) {
    PMPI_Type_free(&type);
  }
  return code;
}

int LoggedMessages::make_persistent(const VirtualComm& virtual_comm, std::function<int(MPI_Request*)> begin,
                                    MPI_Request* request) {
  const int code = PMPI_Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
  if (code != MPI_SUCCESS) return code;
  Persistent& one = persistent_[*request] =
      Persistent{&virtual_comm, nullptr, 0, MPI_BYTE, false, MPI_PROC_NULL, 0, std::nullopt};
  one.begin = std::move(begin);
  process_context().persistent_requests.note_logged(*request);
  return code;
}

std::optional<int> LoggedMessages::begin_persistent(MPI_Request request) {
  Persistent& one = persistent_.at(request);
  if (!one.begin || !one.virtual_comm->handle) return std::nullopt;
  return one.begin(&one.begun);
}

int LoggedMessages::start(MPI_Request request) {
  Persistent& one = persistent_.at(request);
  return noted_if_failed(start(request, one), *one.virtual_comm);
}

int LoggedMessages::start(MPI_Request request, Persistent& one) {
  if (one.begin) return MPI_ERR_COMM;  // its communicator is freed, and the call that begins it has the handle
  if (one.peer == MPI_PROC_NULL) return library::start(&request);
  if (!one.ends) return begin_receive(*one.virtual_comm, one.data, one.count, one.type, one.peer, one.tag, &one.begun);
  if (one.ends == SendEnds::as_synchronous)
    return begin_synchronous_send(*one.virtual_comm, one.data, one.count, one.type, one.peer, one.tag, &one.begun);
  const int code =
      send(*one.virtual_comm, Traffic::messages, one.data, one.count, one.type, one.peer, one.tag, *one.ends);
  return code == MPI_SUCCESS ? library::start(&request) : code;
}

void LoggedMessages::refuse_to_free() const {
  throw UsageError(
      fmt::format("MPI_Request_free was called for a request that was started, which {} not cover: wait for it first",
                  unsupported_.what));
}

int LoggedMessages::free_begun(MPI_Request* request) {
  const MPI_Request before = *request;
  const Receive* const receive = find(before);
  if (!(receive != nullptr ? receive->is_complete : by_operation_.at(before)->is_complete)) refuse_to_free();
  const int code = PMPI_Request_free(request);
  forget({&before, 1}, {request, 1});
  return code;
}

int LoggedMessages::free_persistent(MPI_Request* request) {
  const auto known = persistent_.find(*request);
  Persistent& one = known->second;
  if (one.begun != MPI_REQUEST_NULL) {
    if (const int code = free_begun(&one.begun); code != MPI_SUCCESS) return code;
  }
  if (one.owns_type) PMPI_Type_free(&one.type);
  persistent_.erase(known);
  return PMPI_Request_free(request);
}

LoggedMessages::PersistentReplaced::PersistentReplaced(LoggedMessages& messages, std::span<MPI_Request> requests)
    : messages_(messages), requests_(requests) {
  if (messages.persistent_.empty()) return;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto known = messages.persistent_.find(requests[i]);
    if (known == messages.persistent_.end() || known->second.begun == MPI_REQUEST_NULL) continue;
    replaced_.emplace_back(i, requests[i]);
    requests[i] = known->second.begun;
  }
}

LoggedMessages::PersistentReplaced::~PersistentReplaced() {
  for (const auto& [i, persistent] : replaced_) {
    if (requests_[i] == MPI_REQUEST_NULL) messages_.persistent_.at(persistent).begun = MPI_REQUEST_NULL;
    requests_[i] = persistent;
  }
}

}  // namespace mend
