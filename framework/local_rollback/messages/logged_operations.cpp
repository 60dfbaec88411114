// Operations of logged messages that continue after their call: synchronous sends, and non-blocking collective calls.

#include "framework/local_rollback/messages/logged_messages.hpp"
#include "framework/local_rollback/plain_calls.hpp"
#include "transport/mpi.hpp"

#include <iterator>
#include <utility>

namespace mend {

int LoggedMessages::fill_empty_status(void*, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  return MPI_SUCCESS;
}

int LoggedMessages::add_operation(const VirtualComm& virtual_comm, Operation** made) {
  Operation& one = operations_.emplace_back(Operation{&virtual_comm});
  const int code = PMPI_Grequest_start(&fill_empty_status, &let_go, &ignore_cancel, nullptr, &one.handle);
  if (code != MPI_SUCCESS) {
    operations_.pop_back();
    return code;
  }
  by_operation_[one.handle] = std::prev(operations_.end());
  *made = &one;
  return MPI_SUCCESS;
}

void LoggedMessages::remove(Operations::iterator operation) {
  for (const Receives::iterator part : operation->parts) receives_.erase(part);
  by_operation_.erase(operation->handle);
  operations_.erase(operation);
}

void LoggedMessages::complete(Operation& operation) {
  operation.is_complete = true;
  PMPI_Grequest_complete(operation.handle);
}

/// Undoes the operation of `request`, because the call that has made it fails.
void LoggedMessages::take_back(MPI_Request* request) {
  const ErrorsReturned quiet;
  const Operations::iterator operation = by_operation_.at(*request);
  for (const Receives::iterator part : operation->parts) withdraw(part->beneath);
  if (operation->send != MPI_REQUEST_NULL) keep_send(operation->send, operation->copy);
  complete(*operation);
  remove(operation);
  PMPI_Request_free(request);
}

int LoggedMessages::begin_synchronous_send(const VirtualComm& virtual_comm, const void* data, int count,
                                           MPI_Datatype type, int to, int tag, MPI_Request* request) {
  Operation* made = nullptr;
  int code = add_operation(virtual_comm, &made);
  if (code != MPI_SUCCESS) return code;
  *request = made->handle;
  try {
    code = send(virtual_comm, Traffic::messages, data, count, type, to, tag, SendEnds::at_once, made);
  } catch (...) {
    take_back(request);
    throw;
  }
  if (code != MPI_SUCCESS) take_back(request);
  return code;
}

int LoggedMessages::begin_send(std::span<const std::byte> bytes, int to, int tag, MPI_Comm comm, Operation& operation) {
  return PMPI_Issend(bytes.data(), static_cast<int>(bytes.size()), MPI_PACKED, to, tag, comm, &operation.send);
}

int LoggedMessages::begin_operation(const VirtualComm& virtual_comm, std::span<const Expected> expected,
                                    std::function<int()> at_end, MPI_Request* request) {
  if (std::ranges::find(expected, MPI_DATATYPE_NULL, &Expected::type) != expected.end()) return MPI_ERR_TYPE;
  Operation* made = nullptr;
  if (const int code = add_operation(virtual_comm, &made); code != MPI_SUCCESS) return code;
  made->at_end = std::move(at_end);
  *request = made->handle;
  int code = MPI_SUCCESS;
  try {
    for (const Expected& one : expected) {
      Receive& part =
          receives_.emplace_back(Receive{&virtual_comm, one.data, one.count, std::make_shared<KeptType>(one.type),
                                         one.from, virtual_comm.collectives_tag, Traffic::collectives});
      made->parts.push_back(std::prev(receives_.end()));
      code = post(part);
      if (code == MPI_SUCCESS) continue;
      if (!means_failure(virtual_comm.comm(Traffic::collectives), code)) break;
      recover_();  // this posts the receive again
      code = MPI_SUCCESS;
    }
  } catch (...) {
    take_back(request);
    throw;
  }
  if (code != MPI_SUCCESS) take_back(request);
  return code;
}

LoggedMessages::Try LoggedMessages::finish(Operation& operation, bool waits, int* code) {
  completed_dropped_ = completed_dropped_ || operation.is_dropped;
  if (operation.is_complete) return Try::complete;
  for (const Receives::iterator part : operation.parts)
    if (const Try how = finish(*part, waits, code); how != Try::complete) return how;
  if (operation.send != MPI_REQUEST_NULL) {
    int has_ended = 1;
    *code = quietly([&] {
      return waits ? library::wait(&operation.send, MPI_STATUS_IGNORE)
                   : library::test(&operation.send, &has_ended, MPI_STATUS_IGNORE);
    });
    if (*code != MPI_SUCCESS) {
      if (means_failure(operation.virtual_comm->comm(Traffic::messages), *code)) return Try::interrupted;
      noted_if_failed(*code, *operation.virtual_comm);
      return Try::failed;
    }
    if (has_ended == 0) return Try::waits;
    operation.copy = {};
  }
  if (operation.copy.data() != nullptr) return Try::interrupted;  // the message was not received
  if (operation.at_end) *code = noted_if_failed(operation.at_end(), *operation.virtual_comm);
  complete(operation);
  return *code == MPI_SUCCESS ? Try::complete : Try::failed;
}

}  // namespace mend
