// Matched messages. A message is received and noted in the log when it is matched, so it is not sent again. The
// application's handle is for a copy of the message, which this process sends to itself, so it survives a recovery.

#include "framework/local_rollback/messages/logged_messages.hpp"
#include "framework/local_rollback/plain_calls.hpp"
#include "transport/mpi.hpp"

#include <iterator>
#include <utility>

namespace mend {

LoggedMessages::~LoggedMessages() {
  for (auto& [request, one] : persistent_)
    if (one.owns_type) PMPI_Type_free(&one.type);
  for (auto& [handle, one] : matched_) {
    MPI_Message message = handle;
    std::vector<std::byte> unused(one.bytes.size());
    PMPI_Mrecv(unused.data(), static_cast<int>(unused.size()), MPI_PACKED, &message, MPI_STATUS_IGNORE);
    PMPI_Wait(&one.send, MPI_STATUS_IGNORE);
  }
}

int LoggedMessages::match(const VirtualComm& virtual_comm, int from, int tag, int* flag, MPI_Message* message,
                          MPI_Status* status) {
  MPI_Status found{};
  if (const int code = find_message(virtual_comm, from, tag, flag, &found); code != MPI_SUCCESS) return code;
  if (flag != nullptr && *flag == 0) return MPI_SUCCESS;
  if (from == MPI_PROC_NULL) {
    *message = MPI_MESSAGE_NO_PROC;
    if (status != MPI_STATUS_IGNORE) *status = found;
    return MPI_SUCCESS;
  }
  int size = 0;
  PMPI_Get_elements(&found, MPI_BYTE, &size);
  Matched made{&virtual_comm, std::vector<std::byte>(static_cast<std::size_t>(size)), MPI_REQUEST_NULL, found};
  // The message is the next one of its channel, even if a failure comes in between.
  if (const int code = receive(virtual_comm, Traffic::messages, made.bytes.data(), size, MPI_PACKED, found.MPI_SOURCE,
                               found.MPI_TAG, &made.status);
      code != MPI_SUCCESS)
    return code;
  if (!own_) {
    MPI_Comm of_this_process = MPI_COMM_NULL;
    check_mpi(PMPI_Comm_dup(MPI_COMM_SELF, &of_this_process), "MPI_Comm_dup");
    own_ = Communicator(of_this_process);
  }
  check_mpi(PMPI_Isend(made.bytes.data(), size, MPI_PACKED, 0, 0, own_.get(), &made.send), "MPI_Isend");
  check_mpi(PMPI_Mprobe(0, 0, own_.get(), message, MPI_STATUS_IGNORE), "MPI_Mprobe");
  if (status != MPI_STATUS_IGNORE) *status = made.status;
  matched_.emplace(*message, std::move(made));
  return MPI_SUCCESS;
}

int LoggedMessages::receive_matched(void* data, int count, MPI_Datatype type, MPI_Message* message,
                                    MPI_Status* status) {
  const auto known = matched_.find(*message);
  Matched& one = known->second;
  MPI_Status got{};
  const int code =
      noted_if_failed(quietly([&] { return PMPI_Mrecv(data, count, type, message, &got); }), *one.virtual_comm);
  PMPI_Wait(&one.send, MPI_STATUS_IGNORE);
  got.MPI_SOURCE = one.status.MPI_SOURCE;
  got.MPI_TAG = one.status.MPI_TAG;
  matched_.erase(known);
  if (status != MPI_STATUS_IGNORE) *status = got;
  return code;
}

int LoggedMessages::begin_receive_matched(void* data, int count, MPI_Datatype type, MPI_Message* message,
                                          MPI_Request* request) {
  Receive& receive =
      receives_.emplace_back(Receive{matched_.at(*message).virtual_comm, data, count, nullptr, MPI_PROC_NULL, 0});
  int code = receive_matched(data, count, type, message, &receive.status);
  if (code == MPI_SUCCESS) code = PMPI_Grequest_start(&fill_status, &let_go, &ignore_cancel, &receive, &receive.handle);
  if (code != MPI_SUCCESS) {
    receives_.pop_back();
    return code;
  }
  receive.is_complete = true;
  by_handle_[receive.handle] = std::prev(receives_.end());
  *request = receive.handle;
  return PMPI_Grequest_complete(receive.handle);
}

}  // namespace mend
