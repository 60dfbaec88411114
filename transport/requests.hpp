#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

namespace mend {

/// Non-blocking messages of one communicator, waited for together.
///
/// C++ code that leaves a scope by exception must not free a buffer that MPI may still read or write. This class
/// ensures that. If it is destroyed while messages are under way, because a process failed before wait_all, it revokes
/// the communicator, so that every message completes with or without success, and waits until all have completed.
/// Recovery replaces the communicator anyway. Declare a Requests after the buffers that it uses.
class Requests {
 public:
  explicit Requests(MPI_Comm comm) : comm_(comm) {}
  ~Requests();
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  /// Begins to send `bytes` to rank `to` (MPI_PROC_NULL is allowed). The bytes must stay untouched until wait_all. The
  /// size may exceed MPI's int counts. Throws ProcessFailure, EnvironmentError.
  void send(std::span<const std::byte> bytes, int to, int tag);

  /// Begins to receive exactly bytes.size() bytes from rank `from`.
  void receive(std::span<std::byte> bytes, int from, int tag);

  /// Takes over a request that the caller has started on the same communicator.
  void add(MPI_Request request) { add(request, false); }

  /// Completes all messages. Throws ProcessFailure, EnvironmentError. Returns at once if there are none.
  void wait_all();

  /// Returns true if all messages are complete, without waiting. Throws as wait_all. If this or wait_all has thrown, it
  /// returns false for ever, and wait_all throws: MPI has forgotten the requests that have failed, and reports them as
  /// complete.
  bool test_all();

 private:
  void add(MPI_Request request, bool is_receive);
  void forget();

  MPI_Comm comm_;
  std::vector<MPI_Request> requests_;
  std::vector<bool> is_receive_;  // by request
  std::size_t bytes_ = 0;         // of all messages that are not completed
  bool have_failed_ = false;
};

}  // namespace mend
