#include "framework/process/persistent_requests.hpp"

#include "transport/mpi.hpp"

#include <algorithm>

namespace mend {

void PersistentRequests::note_made(MPI_Comm comm, MPI_Request request) {
  outdated_.erase(request);  // of a request that had the same handle
  if (handles_errors_of(comm)) outdated_.emplace(request, false);
}

void PersistentRequests::end_epoch() {
  for (auto& [request, outdated] : outdated_) outdated = true;
}

bool PersistentRequests::are_outdated(int count, const MPI_Request* requests) const {
  if (outdated_.empty()) return false;
  return std::any_of(requests, requests + std::max(count, 0), [this](MPI_Request request) {
    const auto found = outdated_.find(request);
    return found != outdated_.end() && found->second;
  });
}

}  // namespace mend
