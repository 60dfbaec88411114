#include "transport/mpi_endpoint.hpp"

#include "transport/library_calls.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mend::transport {
namespace {
constexpr int tag = 0;  // the communicator is private

/// The smallest eager limit among Open MPI's transports is 4096 bytes, including its own header.
constexpr std::size_t piece_size = 2048;
constexpr std::byte last_piece{1};
constexpr std::byte more_follows{0};

/// Pieces that were not received. MPI may read them at any time, so they are kept.
std::vector<Outgoing>& abandoned() {
  static std::vector<Outgoing> all;
  return all;
}

Communicator duplicate(MPI_Comm parent) {
  MPI_Comm made = MPI_COMM_NULL;
  call_mpi([&] { return MPI_Comm_dup(parent, &made); }, "MPI_Comm_dup");
  return Communicator(made);
}

}  // namespace

MpiEndpoint::MpiEndpoint(MPI_Comm parent, std::vector<ProcessId> members)
    : MpiEndpoint(duplicate(parent), std::move(members)) {}

MpiEndpoint::MpiEndpoint(Communicator own, std::vector<ProcessId> members)
    : comm_(std::move(own)), members_(std::move(members)) {
  MPI_Comm_set_errhandler(comm_.get(), MPI_ERRORS_RETURN);
  my_rank_ = comm_.rank();
  if (static_cast<int>(members_.size()) != comm_.size()) {
    throw UsageError(
        fmt::format("an endpoint over {} processes was given {} identities", comm_.size(), members_.size()));
  }
  if (!std::is_sorted(members_.begin(), members_.end())) {
    throw UsageError("an endpoint's processes must be given in ascending order");
  }
  learn_deaths();  // no receive reports deaths that MPI met while it made the communicator (docs/open-mpi.md)
}

MpiEndpoint::~MpiEndpoint() {
  if (receiving_ != MPI_REQUEST_NULL) {
    MPI_Cancel(&receiving_);
    MPI_Wait(&receiving_, MPI_STATUS_IGNORE);
  }
  retire_finished_sends();
  if (outgoing_.empty()) return;
  for (Outgoing& piece : outgoing_) abandoned().push_back(std::move(piece));
  comm_.release();
}

int MpiEndpoint::rank_of(ProcessId process) const {
  const auto at = std::lower_bound(members_.begin(), members_.end(), process);
  if (at == members_.end() || *at != process) {
    throw UsageError(fmt::format("process {} is not on this endpoint's network", process.value));
  }
  return static_cast<int>(at - members_.begin());
}

void MpiEndpoint::send(ProcessId to, std::span<const std::byte> bytes) {
  const int rank = rank_of(to);
  if (bytes.size() > max_message) {
    throw UsageError(fmt::format("a control message of {} bytes is longer than {}", bytes.size(), max_message));
  }
  if (dead_.contains(to)) return;
  while (bytes.size() > piece_size) {
    if (!send_piece(rank, more_follows, bytes.first(piece_size))) return;
    bytes = bytes.subspan(piece_size);
  }
  send_piece(rank, last_piece, bytes);
  retire_finished_sends();  // while the message is on its way
}

/// Returns false if `rank` is dead.
bool MpiEndpoint::send_piece(int rank, std::byte mark, std::span<const std::byte> bytes) {
  Outgoing& piece = outgoing_.emplace_back();
  if (!spare_buffers_.empty()) {
    piece.bytes = std::move(spare_buffers_.back());
    spare_buffers_.pop_back();
  }
  piece.to = rank;
  piece.bytes.resize(1 + bytes.size());
  piece.bytes[0] = mark;
  std::copy(bytes.begin(), bytes.end(), piece.bytes.begin() + 1);
  const int code = library::begin_send(piece.bytes.data(), static_cast<int>(piece.bytes.size()), MPI_BYTE, rank, tag,
                                       comm_.get(), &piece.request);
  if (code == MPI_SUCCESS) return true;
  outgoing_.pop_back();
  if (outcome_of(code) == MpiOutcome::error) check_mpi(code, "MPI_Isend");
  return false;
}

std::optional<Event> MpiEndpoint::poll() {
  if (std::optional<Event> arrival = receive_one()) return arrival;
  if (deaths_to_report_.empty()) return std::nullopt;
  const Death death{deaths_to_report_.front()};
  deaths_to_report_.pop_front();
  mark_dead(death.process);
  return death;
}

void MpiEndpoint::mark_dead(ProcessId process) {
  dead_.insert(process);
  const int rank = rank_of(process);
  assembled_.erase(rank);
  abandon_sends_to(rank);
}

/// MPI may never complete these sends. Later sends to other ranks must not wait for them in the queue.
void MpiEndpoint::abandon_sends_to(int rank) {
  std::erase_if(outgoing_, [&](Outgoing& piece) {
    if (piece.to != rank) return false;
    abandoned().push_back(std::move(piece));
    return true;
  });
}

/// A receive from any source is always posted. It is the quickest way to get a message, and the only way in which MPI
/// reports a death that concerns no message (probing does not).
void MpiEndpoint::post_receive() {
  arriving_.resize(1 + piece_size);
  const int code = library::begin_receive(arriving_.data(), static_cast<int>(arriving_.size()), MPI_BYTE,
                                          MPI_ANY_SOURCE, tag, comm_.get(), &receiving_);
  if (outcome_of(code) == MpiOutcome::error) check_mpi(code, "MPI_Irecv");
}

std::optional<Event> MpiEndpoint::receive_one() {
  for (;;) {
    if (receiving_ == MPI_REQUEST_NULL) post_receive();
    if (receiving_ == MPI_REQUEST_NULL) {  // a death that is not acknowledged yet forbids it
      learn_deaths();
      return std::nullopt;
    }
    int done = 0;
    MPI_Status status;
    const int code = library::test(&receiving_, &done, &status);
    if (outcome_of(code) == MpiOutcome::error) check_mpi(code, "MPI_Test");
    if (code != MPI_SUCCESS) {
      learn_deaths();
      if (!done) return std::nullopt;                // it continues now that the deaths are acknowledged
      if (receiving_ == MPI_REQUEST_NULL) continue;  // its sender has died
      // A message came after the library had marked the receive as disturbed. The message is whole; only the mark is
      // left.
      MPI_Request_free(&receiving_);
    }
    if (!done) return std::nullopt;
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    const ProcessId from = members_[static_cast<std::size_t>(status.MPI_SOURCE)];
    std::swap(arrived_, arriving_);
    if (dead_.contains(from)) continue;
    const auto piece = std::span<const std::byte>(arrived_).first(static_cast<std::size_t>(count));
    if (const auto message = assemble(status.MPI_SOURCE, piece)) return Arrival{from, *message};
  }
}

/// Returns the message that `piece` completes, if it completes one.
std::optional<std::span<const std::byte>> MpiEndpoint::assemble(int from, std::span<const std::byte> piece) {
  const bool last = piece[0] == last_piece;
  const auto bytes = piece.subspan(1);
  const auto begun = assembled_.find(from);
  if (last && begun == assembled_.end()) return bytes;
  auto& message = assembled_[from];
  message.insert(message.end(), bytes.begin(), bytes.end());
  if (!last) return std::nullopt;
  whole_ = std::move(message);
  assembled_.erase(from);
  return whole_;
}

void MpiEndpoint::learn_deaths() {
  int acknowledged = 0;
  MPIX_Comm_ack_failed(comm_.get(), comm_.size(), &acknowledged);
  MPI_Group failed = MPI_GROUP_NULL;
  MPIX_Comm_get_failed(comm_.get(), &failed);
  MPI_Group everyone = MPI_GROUP_NULL;
  MPI_Comm_group(comm_.get(), &everyone);
  int count = 0;
  MPI_Group_size(failed, &count);
  for (int i = 0; i < count; ++i) {
    int rank = MPI_UNDEFINED;
    MPI_Group_translate_ranks(failed, 1, &i, everyone, &rank);
    const ProcessId process = members_[static_cast<std::size_t>(rank)];
    const bool queued =
        std::find(deaths_to_report_.begin(), deaths_to_report_.end(), process) != deaths_to_report_.end();
    if (!queued && !dead_.contains(process)) deaths_to_report_.push_back(process);
  }
  MPI_Group_free(&failed);
  MPI_Group_free(&everyone);
}

void MpiEndpoint::retire_finished_sends() {
  auto piece = outgoing_.begin();
  for (; piece != outgoing_.end(); ++piece) {
    int done = 0;
    library::test(&piece->request, &done, MPI_STATUS_IGNORE);  // an error also completes it: the receiver died
    if (!done) break;
    spare_buffers_.push_back(std::move(piece->bytes));
  }
  outgoing_.erase(outgoing_.begin(), piece);
}

}  // namespace mend::transport
