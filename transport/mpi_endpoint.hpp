#pragma once

#include "transport/endpoint.hpp"
#include "transport/mpi.hpp"

#include <deque>
#include <vector>

namespace mend::transport {

/// An endpoint over MPI point-to-point messages, driven by the thread that calls it.
///
/// It has a communicator of its own, so that its messages cannot meet the application's, and which nobody revokes.
/// Deaths are learnt from the MPI library.
class MpiEndpoint final : public Endpoint {
 public:
  /// Collective over `parent`, all of whose members must be alive; the member of rank i is process `members[i]`.
  /// Throws ProcessFailure when one dies meanwhile.
  MpiEndpoint(MPI_Comm parent, std::vector<ProcessId> members);
  /// The same on a communicator made for this purpose. Local.
  MpiEndpoint(Communicator own, std::vector<ProcessId> members);
  ~MpiEndpoint() override;

  ProcessId self() const override { return members_[static_cast<std::size_t>(my_rank_)]; }
  void send(ProcessId to, std::span<const std::byte> bytes) override;
  std::optional<Event> poll() override;

 private:
  struct Outgoing {
    MPI_Request request = MPI_REQUEST_NULL;
    std::vector<std::byte> bytes;
  };

  int rank_of(ProcessId process) const;
  void retire_finished_sends();
  void post_receive();
  void learn_deaths();
  std::optional<Event> receive_one();

  Communicator comm_;
  std::vector<ProcessId> members_;  // by rank, ascending
  int my_rank_ = 0;
  ProcessSet dead_;
  std::deque<ProcessId> deaths_to_report_;
  std::deque<Outgoing> outgoing_;
  std::vector<std::vector<std::byte>> spare_buffers_;
  MPI_Request receiving_ = MPI_REQUEST_NULL;
  std::vector<std::byte> arriving_;  // what the posted receive writes into
  std::vector<std::byte> arrived_;   // what the last arrival shows
};

}  // namespace mend::transport
