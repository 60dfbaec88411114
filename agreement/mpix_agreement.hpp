#pragma once

#include "agreement/agreement.hpp"
#include "transport/mpi.hpp"

namespace mend::agreement {

/// The MPI library's own agreement, MPIX_Comm_agree.
class MpixAgreement final : public Agreement {
 public:
  /// Agrees among the members of `comm`, which must outlive this. Local.
  explicit MpixAgreement(MPI_Comm comm) : comm_(comm) {}
  Outcome agree(std::uint32_t contribution) override;

 private:
  MPI_Comm comm_;
};

}  // namespace mend::agreement
