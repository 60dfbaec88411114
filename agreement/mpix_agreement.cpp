#include "agreement/mpix_agreement.hpp"

#include "base/telemetry/library_wait.hpp"

namespace mend::agreement {

Outcome MpixAgreement::agree(std::uint32_t contribution) {
  const ErrorsReturned quiet;
  const InLibrary in_library(InLibrary::Step::agreement);
  int flag = static_cast<int>(contribution & 0x7fffffffU);
  const int code = MPIX_Comm_agree(comm_, &flag);
  if (outcome_of(code) == MpiOutcome::error) check_mpi(code, "MPIX_Comm_agree");
  return {static_cast<std::uint32_t>(flag), outcome_of(code) == MpiOutcome::failure};
}

}  // namespace mend::agreement
