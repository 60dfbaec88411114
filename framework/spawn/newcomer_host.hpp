// Starts processes for a job and admits them, for --mend-on-failure spawn.
//
//   one of the job (the host)                     the newcomer
//     start_process()  ------------------------->   initialises MPI, alone
//     listens          <-------------------------   connects, and waits
//     "this is the job"  ----------------------->   prepares to be watched
//                      <-------------------------   "this is me"
//     all agree that it is here
//     MPI_Comm_accept         <~~~~~~~~~~~~~~~~>    MPI_Comm_connect
//     all: MPI_Intercomm_create, agree; greet it, MPI_Intercomm_merge, agree
//     "you are in"  ---------------------------->   is a spare like any other
//
// The newcomer is not a member of the job until the last agreement. If anything fails before that, it is dropped: its
// connection ends, it ends itself or is killed, and the job continues without it. No wait is endless: the waits of the
// host end with the connection, the waits of the others can be revoked, and a newcomer that does nothing is killed when
// its time is up.
//
// Until the newcomer is admitted, the host watches it (newcomer_heartbeat.hpp), also while it waits in the background.
// If the host dies, the kernel ends the newcomer (parent_death_signal.hpp).
//
// The host is the process nearest to the place where the newcomer is wanted. It starts the newcomer on its own machine.

#pragma once

#include "base/clock.hpp"
#include "detector/local/local_process.hpp"
#include "framework/epoch/left_communicators.hpp"
#include "framework/recovery/agreement_provider.hpp"
#include "framework/spawn/join_info.hpp"
#include "framework/spawn/parent_death_signal.hpp"
#include "framework/spawn/newcomer_heartbeat.hpp"
#include "framework/process/failure_detector.hpp"
#include "framework/recovery/epoch_state.hpp"
#include "transport/control/connection.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace mend {

class NewcomerHost {
 public:
  /// `limit`: the longest time until a process is admitted, from when it is started, or is needed if it was made ready
  /// before. `left` gets the communicators that are not used any more: a newcomer that is dropped may still send in
  /// them.
  NewcomerHost(ProcessId self, FailureDetector& detector, AgreementProvider& agreements, LeftCommunicators& left,
               Seconds limit);
  /// Ends the processes that wait, because they are not needed and one that hangs would keep the launcher waiting.
  ~NewcomerHost();
  NewcomerHost(const NewcomerHost&) = delete;
  NewcomerHost& operator=(const NewcomerHost&) = delete;

  /// Sets the machines on which to start processes, the best first. The same on all members.
  void prefer(std::vector<NodeId> places) { places_ = std::move(places); }
  const std::vector<NodeId>& places() const { return places_; }
  /// Returns true if this process is the host now.
  bool hosts(const EpochState& epoch_state) const;

  /// Starts processes until `count` are starting or waiting, and accepts their connections while this process computes.
  /// Local; returns at once.
  void prepare(std::size_t count, const EpochState& epoch_state);

  // The steps that admit one more process to `epoch_state`, as the recovery core decides them. All but the first are
  // collective over the members of epoch_state.base, which is not used for anything else meanwhile. They return true if
  // they have succeeded here; interrupt() ends them after a failure elsewhere.

  /// Waits for a process that can join. Returns nothing if the runtime starts none. Throws EnvironmentError for a cause
  /// that another host may not have: this process lacks something, or the processes that it starts die or do not come
  /// in time. For the host. Local.
  std::optional<ProcessId> find(const EpochState& epoch_state);
  /// Makes a communicator of the members for these steps, which can be revoked.
  bool meet(const EpochState& epoch_state);
  /// Makes an intercommunicator with the newcomer, which gets `record`.
  bool connect(const EpochState& epoch_state, ProcessId host, const JobRecord& record);
  /// Greets the newcomer, and merges the intercommunicator.
  bool merge(const EpochState& epoch_state);
  /// Admits the newcomer as a spare of `epoch_state`, and returns it.
  Placed admit(EpochState& epoch_state);
  /// Interrupts the members that wait in one of these steps. Local.
  void interrupt();
  /// Drops the newcomer that has not been admitted, if there is one. Local.
  void give_up();

 private:
  /// A process that was started, until it is admitted. If it is dropped, it is killed, because it may hang.
  struct Candidate {
    std::unique_ptr<transport::Connection> connection;  // set when it has connected
    detector::LocalIdentity called_as;                  // its identity, by its own account
    std::optional<detector::LocalProcess> process;      // set when it is known
    std::unique_ptr<NewcomerHeartbeat> heartbeat;       // set when it is known and has connected
    bool has_died = false;                              // before it was known

    Candidate() = default;
    Candidate(Candidate&&) = default;
    Candidate& operator=(Candidate&&) = delete;
    ~Candidate() {
      if (process) process->kill();
    }
    void runs_as(const std::optional<detector::LocalIdentity>& identity);
    bool is_gone() const { return connection ? connection->ended() : has_died || (process && process->is_gone()); }
    /// Returns the connection of a process that may live on.
    std::unique_ptr<transport::Connection> release() {
      heartbeat.reset();
      process.reset();
      return std::move(connection);
    }
  };
  /// The process that is about to join.
  struct Guest : Candidate {
    Guest(ProcessId number, Candidate&& candidate) : Candidate(std::move(candidate)), expected(number) {}
    ProcessId expected;
    DetectorPeer who;
  };
  class Patience;

  /// The communicators for admitting a newcomer.
  struct Meeting {
    Communicator here;     // of the members
    Communicator contact;  // between the host and the newcomer; only there
    Communicator bridge;   // of these two; only there
    Communicator between;  // between all members and the newcomer
    Communicator joined;   // of all members and the newcomer
    DetectorPeer newcomer;
    bool is_hopeless = false;
  };

  void leave_meeting();
  void forget_useless(const EpochState& epoch_state);
  std::unique_ptr<Guest> await_guest(const EpochState& epoch_state);
  std::unique_ptr<Guest> await_call(const EpochState& epoch_state);
  bool introduced(Guest& guest);
  bool take_start_results();
  bool lost_one_of(const std::vector<ProcessId>& members) const;
  std::chrono::milliseconds time_for_newcomer() const;
  Clock::time_point deadline() const { return Clock::now() + std::chrono::duration_cast<Clock::duration>(limit_); }
  void start(const EpochState& epoch_state);
  void start_up_to(std::size_t count, const EpochState& epoch_state);
  bool try_to_find(const EpochState& epoch_state);
  void dismiss_all();
  void accept_callers();
  void hear(std::span<const std::byte> said, std::unique_ptr<transport::Connection> caller);
  bool all_have_come() const;
  void attend(const std::stop_token& stop);
  std::string lateness() const;

  ProcessId self_;
  FailureDetector& detector_;
  AgreementProvider& agreements_;
  LeftCommunicators& left_;
  Seconds limit_;
  Clock::time_point until_;   // when the time of the process that is to join is over
  detector::Time timeout_{};  // of the detector, for the heartbeats of newcomers
  std::vector<NodeId> places_;
  RuntimeWitness witness_;
  std::unique_ptr<ParentDeathSignal> parent_death_signal_;  // these two are set when the first process is started
  std::unique_ptr<transport::Listener> listener_;
  std::map<ProcessId, Candidate> waiting_;
  std::vector<std::unique_ptr<transport::Connection>> callers_;  // connected, but not identified yet
  std::vector<std::unique_ptr<transport::Connection>> let_in_;   // until they have closed the connection
  std::unique_ptr<Guest> guest_;                                 // on the host
  std::unique_ptr<Patience> patience_;                           // exists together with guest_
  Meeting meeting_;
  int failures_ = 0;
  std::uint32_t next_ = 0;  // the next process number; numbers of processes that were not admitted are not reused

  struct StartResults;
  std::shared_ptr<StartResults> start_results_;
  std::jthread attendant_;  // while it runs, it owns all members above
};

}  // namespace mend
