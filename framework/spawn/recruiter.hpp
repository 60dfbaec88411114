// The rung of the ladder on which a job starts processes of its own, when no spare is left.
//
//   one of the job (the host)                     the newcomer
//     start_process()  ------------------------->   initialises MPI, alone
//     opens the door   <-------------------------   calls, and waits at the line
//     "this is the job"  ----------------------->   prepares to be watched
//                      <-------------------------   "this is me"
//     all agree that it is here
//     MPI_Comm_accept         <~~~~~~~~~~~~~~~~>    MPI_Comm_connect
//     all: MPI_Intercomm_create, agree; greet it, MPI_Intercomm_merge, agree
//     "you are in"  ---------------------------->   is a spare like any other
//
// The newcomer is nobody until the last agreement: when anything fails before, it is dropped (its line ends, and it
// ends itself, or is killed should it hang) and the job goes on without. Nobody waits for it in vain: what the host
// waits for ends with the line, what the others wait for can be revoked, and a newcomer that does nothing is killed
// when its time is up.
//
// Until it is in, the host watches it (newcomer_heartbeat.hpp), also when it has been started in the background and
// waits to be needed; and should the host die, the kernel ends it (parent_death_signal.hpp).
//
// Newcomers are started by the process that is nearest to where they are wanted, on its own machine.

#pragma once

#include "base/clock.hpp"
#include "detector/local/local_process.hpp"
#include "framework/recovery/agreement_provider.hpp"
#include "framework/spawn/join_info.hpp"
#include "framework/spawn/parent_death_signal.hpp"
#include "framework/spawn/newcomer_heartbeat.hpp"
#include "framework/process/failure_detector.hpp"
#include "framework/recovery/world.hpp"
#include "transport/control/connection.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace mend {

class Recruiter {
 public:
  /// `limit`: how long it may take until a process that was started is in the job.
  Recruiter(ProcessId self, FailureDetector& detector, AgreementProvider& agreements, Seconds limit);
  /// Ends those who wait: nobody needs them any more, and one that hangs would keep the launcher.
  ~Recruiter();
  Recruiter(const Recruiter&) = delete;
  Recruiter& operator=(const Recruiter&) = delete;

  /// The machines on which processes are to be started, the best first. The same on all members.
  void prefer(std::vector<NodeId> places) { places_ = std::move(places); }
  const std::vector<NodeId>& places() const { return places_; }
  /// Whether this process is the one that starts others, as things are.
  bool hosts(const World& world) const;

  /// Has processes started until `count` are on their way or wait to be let in, and lets those in who come while this
  /// process computes. Local; returns at once.
  void prepare(std::size_t count, const World& world);

  // The steps in which one more process is taken into `world`, as the recovery core decides them. All but the first are
  // collective over the members of world.base, which nobody uses for anything else meanwhile; they return whether they
  // have succeeded here, and a failure elsewhere is ended by interrupt().

  /// Has a process come that is to join; nothing when nobody can be had. For the process that hosts. Local.
  std::optional<ProcessId> find(const World& world);
  /// All meet on a communicator of their own, which can be revoked.
  bool meet(const World& world);
  /// All make an intercommunicator with the newcomer, which is told `record`.
  bool connect(const World& world, ProcessId host, const JobRecord& record);
  /// All greet the newcomer and merge with it.
  bool merge(const World& world);
  /// The newcomer is in, as a spare of `world`. Returns it.
  Placed admit(World& world);
  /// Has everyone leave what they wait in of these steps. Local.
  void interrupt();
  /// Drops the newcomer that has not got in, if there is one. Local.
  void give_up();

 private:
  /// A process that was started, until it is in the job. Who is dropped before is killed, since it may hang.
  struct Candidate {
    std::unique_ptr<transport::Connection> line;    // once it has called
    detector::LocalIdentity called_as;              // who it says it is
    std::optional<detector::LocalProcess> process;  // once it is known
    std::unique_ptr<NewcomerHeartbeat> heartbeat;   // once it is known and has called
    bool has_died = false;                          // before it was

    Candidate() = default;
    Candidate(Candidate&&) = default;
    Candidate& operator=(Candidate&&) = delete;
    ~Candidate() {
      if (process) process->kill();
    }
    void runs_as(const std::optional<detector::LocalIdentity>& identity);
    bool is_gone() const { return line ? line->ended() : has_died || (process && process->is_gone()); }
    /// It may live: returns its line.
    std::unique_ptr<transport::Connection> release() {
      heartbeat.reset();
      process.reset();
      return std::move(line);
    }
  };
  /// One that is to join now.
  struct Guest : Candidate {
    Guest(ProcessId number, Candidate&& candidate) : Candidate(std::move(candidate)), expected(number) {}
    ProcessId expected;
    Acquaintance who;
  };
  class Patience;

  /// What the members have for meeting a newcomer.
  struct Meeting {
    Communicator here;     // of the members
    Communicator between;  // with the newcomer
    Communicator joined;
    Acquaintance newcomer;
    bool is_hopeless = false;
  };

  std::unique_ptr<Guest> await_guest(const World& world);
  std::unique_ptr<Guest> await_call(const World& world);
  bool introduced(Guest& guest);
  bool attend_births();
  bool lost_one_of(const std::vector<ProcessId>& members) const;
  Clock::time_point deadline() const { return Clock::now() + std::chrono::duration_cast<Clock::duration>(limit_); }
  void start(const World& world);
  void start_up_to(std::size_t count, const World& world);
  void open_door();
  bool all_have_come() const;
  void attend(const std::stop_token& stop);
  std::string lateness() const;

  ProcessId self_;
  FailureDetector& detector_;
  AgreementProvider& agreements_;
  Seconds limit_;
  std::vector<NodeId> places_;
  RuntimeWitness witness_;
  std::unique_ptr<ParentDeathSignal> parent_death_signal_;  // these two once there has been anybody to have them for
  std::unique_ptr<transport::Listener> door_;
  std::map<ProcessId, Candidate> waiting_;
  std::vector<std::unique_ptr<transport::Connection>> callers_;  // who have not said yet who they are
  std::vector<std::unique_ptr<transport::Connection>> let_in_;   // until they have hung up
  std::unique_ptr<Guest> guest_;                                 // of the host
  std::unique_ptr<Patience> patience_;                           // with it
  Meeting meeting_;
  int failures_ = 0;
  std::uint32_t next_ = 0;  // number to be given: those of processes that did not get in are not used again

  struct Births;
  std::shared_ptr<Births> births_;
  std::jthread attendant_;  // as long as it is there, all that is above is its
};

/// A process's own part, when it was started by a job.
class Arrival {
 public:
  /// Calls at the door that this process was told of. Throws EnvironmentError when nobody is there any more.
  explicit Arrival(FailureDetector& detector);
  ~Arrival();

  /// Waits until it is needed; false when it is not, and the job is over.
  bool wait();
  /// Joins the job: returns its world, of which this process is a spare. Where that is not possible, this process ends.
  World join(AgreementProvider& agreements);
  /// What the job has told this process when it joined.
  const JobRecord& record() const { return record_; }

 private:
  FailureDetector& detector_;
  ProcessId self_;
  transport::ControlAddress door_;
  std::unique_ptr<transport::Connection> line_;
  std::vector<std::byte> job_;
  JobRecord record_;
};

}  // namespace mend
