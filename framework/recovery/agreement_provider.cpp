#include "framework/recovery/agreement_provider.hpp"

#include "agreement/mpix_agreement.hpp"
#include "base/telemetry/library_wait.hpp"
#include "transport/mpi_endpoint.hpp"

#include <utility>

namespace mend {

void AgreementProvider::found(MPI_Comm base, const std::vector<ProcessId>& members) {
  if (!protocol_) return;
  const InLibrary in_library;
  MPI_Comm own = MPI_COMM_NULL;
  check_mpi(MPIX_Comm_shrink(base, &own), "MPIX_Comm_shrink");
  std::vector<ProcessId> living = members_of(own, base, members);
  ProcessSet dead = difference(ProcessSet::of(members), ProcessSet::of(living));
  service_ = std::make_unique<agreement::Service>(
      std::make_unique<transport::MpiEndpoint>(Communicator(own), std::move(living)), std::move(dead));
  service_->on_death(listener_);
}

std::unique_ptr<agreement::Agreement> AgreementProvider::over(agreement::GroupId id, MPI_Comm comm,
                                                              std::vector<ProcessId> members) {
  if (!service_) return std::make_unique<agreement::MpixAgreement>(comm);
  return service_->join(id, std::move(members), *protocol_);
}

void AgreementProvider::settle(MPI_Comm base) {
  const InLibrary in_library(InLibrary::Step::agreement);  // with either kind of agreement, as a newcomer counts it
  if (!service_) return;
  const ErrorsReturned quiet;
  int nothing = 0;
  int settled = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPIX_Comm_iagree(base, &nothing, &request);
  while (!settled) {
    service_->progress();
    MPI_Test(&request, &settled, MPI_STATUS_IGNORE);
  }
}

void AgreementProvider::forget_groups_before(agreement::GroupId id) {
  if (service_) service_->end_groups_before(id);
}

void AgreementProvider::answer() {
  while (service_ && service_->progress()) {
  }
}

void AgreementProvider::on_death(DeathListener listener) {
  if (service_) service_->on_death(listener);
  listener_ = std::move(listener);
}

}  // namespace mend
