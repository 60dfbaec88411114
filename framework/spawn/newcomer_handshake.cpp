#include "framework/spawn/newcomer_handshake.hpp"

#include "base/assert.hpp"

#include <utility>

namespace mend {

Communicator returning_errors(MPI_Comm comm) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return Communicator(comm);
}

Communicator make_intercommunicator(MPI_Comm own, int host, const Communicator& bridge, int other) {
  constexpr int tag = 0;
  MPI_Comm made = MPI_COMM_NULL;
  check_mpi(MPI_Intercomm_create(own, host, bridge.get(), other, tag, &made), "MPI_Intercomm_create");
  return returning_errors(made);
}

void greet(const Communicator& between) {
  int others = 0;
  MPI_Comm_remote_size(between.get(), &others);
  for (int other = 0; other < others; ++other) {
    char said = 0;
    char heard = 0;
    check_mpi(
        MPI_Sendrecv(&said, 1, MPI_CHAR, other, 0, &heard, 1, MPI_CHAR, other, 0, between.get(), MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
  }
}

Communicator merged(const Communicator& between, bool newcomer) {
  MPI_Comm made = MPI_COMM_NULL;
  check_mpi(MPI_Intercomm_merge(between.get(), newcomer ? 1 : 0, &made), "MPI_Intercomm_merge");
  return returning_errors(made);
}

void enlarge(EpochState& epoch_state, const DetectorPeer& newcomer, Communicator joined,
             AgreementProvider& agreements) {
  require(epoch_state.members.back() < newcomer.process, "who joins has a higher number than all members");
  require(static_cast<std::size_t>(joined.size()) == epoch_state.members.size() + 1,
          "all members and the newcomer have met");
  epoch_state.members.push_back(newcomer.process);
  epoch_state.roster.spares.push_back({newcomer.process, newcomer.peer.node});
  epoch_state.ballot.reset();
  epoch_state.everyone.reset();
  epoch_state.base = std::move(joined);
  agreements.found(epoch_state.base.get(), epoch_state.members);
  epoch_state.everyone = agreements.over(agreements.number_group(), epoch_state.base.get(), epoch_state.members);
}

}  // namespace mend
