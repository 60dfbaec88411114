#pragma once

#include "base/process_set.hpp"
#include "transport/endpoint.hpp"
#include "transport/mpi.hpp"

#include <deque>
#include <map>
#include <vector>

namespace mend::transport {

/// A piece of a message that MPI is sending.
struct Outgoing {
  int to = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  std::vector<std::byte> bytes;
};

/// An endpoint over MPI point-to-point messages, driven by the thread that calls it.
///
/// It has a communicator of its own, so that its messages cannot match the application's. That communicator is never
/// revoked. The MPI library reports deaths.
///
/// Messages are sent in pieces that are short enough for MPI's eager protocol. MPI announces a longer message first,
/// and a receive that has matched the announcement never ends if the sender then dies (docs/open-mpi.md).
class MpiEndpoint final : public Endpoint {
 public:
  /// Collective over `parent`, whose members must all be alive. The member of rank i is process `members[i]`. Throws
  /// ProcessFailure if a member dies meanwhile.
  MpiEndpoint(MPI_Comm parent, std::vector<ProcessId> members);
  /// The same on a communicator made for this purpose. Local.
  MpiEndpoint(Communicator own, std::vector<ProcessId> members);
  /// Abandons messages that were not received. Destroy an endpoint when no process waits for its messages.
  ~MpiEndpoint() override;

  ProcessId self() const override { return members_[static_cast<std::size_t>(my_rank_)]; }
  void send(ProcessId to, std::span<const std::byte> bytes) override;
  std::optional<Event> poll() override;

 private:
  int rank_of(ProcessId process) const;
  bool send_piece(int rank, std::byte mark, std::span<const std::byte> bytes);
  void retire_finished_sends();
  void abandon_sends_to(int rank);
  void post_receive();
  void learn_deaths();
  void mark_dead(ProcessId process);
  std::optional<Event> receive_one();
  std::optional<std::span<const std::byte>> assemble(int from, std::span<const std::byte> piece);

  Communicator comm_;
  std::vector<ProcessId> members_;  // by rank, ascending
  int my_rank_ = 0;
  ProcessSet dead_;
  std::deque<ProcessId> deaths_to_report_;
  std::vector<Outgoing> outgoing_;  // in the order of sending; usually at most one
  std::vector<std::vector<std::byte>> spare_buffers_;
  MPI_Request receiving_ = MPI_REQUEST_NULL;
  std::vector<std::byte> arriving_;                  // the buffer of the posted receive
  std::vector<std::byte> arrived_;                   // the bytes of the last arrival, if it came in one piece
  std::vector<std::byte> whole_;                     // the bytes of the last arrival, if it came in several pieces
  std::map<int, std::vector<std::byte>> assembled_;  // the pieces so far, by the sender's rank
};

}  // namespace mend::transport
