// The steps inside calls of the MPI library that all members of a communicator take together: a model of Open MPI 5.0
// (ompi/communicator/comm.c, comm_cid.c, ft/comm_ft.c) with respect to messages.

#pragma once

#include "agreement/era/tree.hpp"
#include "base/ids.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace mend::recovery {

using CommId = std::uint32_t;

enum class Call : std::uint8_t { settle, shrink, split, found, meet, connect, greet, merge, admit, restore };

/// A step of a call.
struct LibraryStep {
  enum class Kind : std::uint8_t {
    agreement,   ///< the library's own; it completes even if processes die
    allreduce,   ///< ceil(log2 n) rounds; `bytes` each
    allgather,   ///< ceil(log2 n) rounds; `bytes` a member, so that a process sends about n times that
    broadcast,   ///< from the host, along a binomial tree; `bytes`
    greeting,    ///< each member exchanges a byte with the newcomer
    invitation,  ///< the host alone: tells the newcomer the members of the job, and lets it connect; `bytes`
    transfers,   ///< of a restore: as planned
    local,       ///< of a restore: copies and hashes
    ballot,      ///< of a restore
  };
  Kind kind = Kind::agreement;
  ByteCount bytes = 8;
};

/// Returns the steps of a call among `members` processes. Pure.
std::vector<LibraryStep> steps_of(Call call, std::size_t members);

/// Returns the number of rounds of an exchange among this many processes.
std::uint32_t rounds_among(std::size_t members);

/// The members of a communicator, by rank. The same on all of them.
struct Comm {
  std::vector<ProcessId> members;
  std::vector<std::int32_t> rank_of;  ///< by process; -1: none
  std::shared_ptr<const agreement::Tree> tree_of_mend;
  std::shared_ptr<const agreement::Tree> tree_of_library;

  bool has(ProcessId process) const { return process.value < rank_of.size() && rank_of[process.value] >= 0; }
  std::size_t rank(ProcessId process) const { return static_cast<std::size_t>(rank_of[process.value]); }
};

/// All communicators of a job. The n-th call of a kind on one makes the same communicator for all processes that make
/// it.
class Comms {
 public:
  const Comm& operator[](CommId id) const { return *all_[id]; }
  CommId make(CommId parent, Call call, std::uint32_t number, const std::vector<ProcessId>& members);
  /// Makes a communicator without a parent.
  CommId make(const std::vector<ProcessId>& members);

 private:
  std::vector<std::unique_ptr<const Comm>> all_;
  std::map<std::tuple<CommId, Call, std::uint32_t>, CommId> made_;
};

}  // namespace mend::recovery
