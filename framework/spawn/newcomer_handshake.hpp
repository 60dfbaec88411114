// The protocol of the two sides when a newcomer is admitted (newcomer_host.hpp has the sequence): the host and the
// other members on one side, the newcomer (newcomer.hpp) on the other.

#pragma once

#include "base/ids.hpp"
#include "detector/local/local_process.hpp"
#include "framework/process/failure_detector.hpp"
#include "framework/recovery/agreement_provider.hpp"
#include "framework/recovery/epoch_state.hpp"
#include "transport/mpi.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

namespace mend {

/// The first message of a newcomer.
struct Call {
  ProcessId process;
  detector::LocalIdentity identity;
};

/// A message without content.
constexpr std::array<std::byte, 1> empty_message{std::byte{1}};

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_bytes(std::span(&value, 1));
}

/// Takes ownership of `comm`, and has its errors returned. Local.
Communicator returning_errors(MPI_Comm comm);

/// Makes an intercommunicator between `own`, whose member `host` has `bridge`, and the communicator of the bridge's
/// member `other`. Collective over both. Throws ProcessFailure or EnvironmentError.
Communicator make_intercommunicator(MPI_Comm own, int host, const Communicator& bridge, int other);

/// Exchanges a byte with every process of the other side. The library connects processes at their first message. If one
/// dies before that, a revocation that is passed on to it waits without end (docs/open-mpi.md). Collective over both
/// sides. Throws ProcessFailure or EnvironmentError.
void greet(const Communicator& between);

/// Merges both sides of an intercommunicator; the newcomer comes last. Collective over both sides. Throws
/// ProcessFailure or EnvironmentError.
Communicator merged(const Communicator& between, bool newcomer);

/// Makes `joined` the base of `epoch_state`. Its last member is the newcomer. Collective over `joined`.
void enlarge(EpochState& epoch_state, const DetectorPeer& newcomer, Communicator joined, AgreementProvider& agreements);

}  // namespace mend
