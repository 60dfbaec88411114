#include "transport/requests.hpp"

#include "base/telemetry/library_wait.hpp"
#include "transport/mpi.hpp"

#include <algorithm>

namespace mend {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 30;  // MPI 4.0's plain calls count in int

/// Calls `post(chunk)` for each piece of `bytes` that one MPI call can carry; once for an empty span.
void for_each_chunk(auto bytes, auto post) {
  do {
    const std::size_t length = std::min(bytes.size(), chunk_bytes);
    post(bytes.first(length));
    bytes = bytes.subspan(length);
  } while (!bytes.empty());
}

}  // namespace

Requests::~Requests() {
  const bool under_way =
      std::any_of(requests_.begin(), requests_.end(), [](MPI_Request request) { return request != MPI_REQUEST_NULL; });
  if (!under_way) return;
  const ErrorsReturned quiet;
  revoke(comm_);
  const InLibrary in_library(InLibrary::Step::other, InLibrary::time_for(bytes_));
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    // Under local rollback, comm_ is a handle without traffic, and its revocation ends no receive.
    if (is_receive_[i]) MPI_Cancel(&requests_[i]);
    MPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
  }
}

void Requests::send(std::span<const std::byte> bytes, int to, int tag) {
  for_each_chunk(bytes, [&](std::span<const std::byte> chunk) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(chunk.data(), static_cast<int>(chunk.size()), MPI_BYTE, to, tag, comm_, &request), "MPI_Isend");
    add(request, false);
    bytes_ += chunk.size();
  });
}

void Requests::receive(std::span<std::byte> bytes, int from, int tag) {
  for_each_chunk(bytes, [&](std::span<std::byte> chunk) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Irecv(chunk.data(), static_cast<int>(chunk.size()), MPI_BYTE, from, tag, comm_, &request),
              "MPI_Irecv");
    add(request, true);
    bytes_ += chunk.size();
  });
}

void Requests::wait_all() {
  if (have_failed_) throw ProcessFailure("a message had failed before it was waited for again");
  const InLibrary in_library(InLibrary::Step::other, InLibrary::time_for(bytes_));
  have_failed_ = true;  // if the next line throws
  check_mpi(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall",
            comm_);
  forget();
}

bool Requests::test_all() {
  if (have_failed_) return false;
  int are_complete = 0;
  have_failed_ = true;  // if the next line throws
  check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &are_complete, MPI_STATUSES_IGNORE),
            "MPI_Testall", comm_);
  have_failed_ = false;
  if (are_complete != 0) forget();
  return are_complete != 0;
}

void Requests::add(MPI_Request request, bool is_receive) {
  requests_.push_back(request);
  is_receive_.push_back(is_receive);
}

void Requests::forget() {
  requests_.clear();
  is_receive_.clear();
  bytes_ = 0;
  have_failed_ = false;
}

}  // namespace mend
