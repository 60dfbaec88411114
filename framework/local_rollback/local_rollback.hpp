// Local rollback (--mend-rollback local): when a process dies, only its replacement and the other ranks of its cluster
// (--mend-clusters) roll back. All other ranks stay in their MPI call, and continue when the message that the call
// waits for has been sent again.
//
// Each entry of the body has one object of the class. It stands between the application's MPI calls on session.comm()
// and MPI (framework/process/hooks/call_hooks.cpp), and between the application and the store
// (local_rollback_store.hpp). A call that a failure interrupts calls recover():
//
//   recover in place      as Session::repair does, in the call
//   decide                a rank whose cluster rolls back leaves the call and the body, enters it again, and joins here
//   new communicators     beneath the virtual communicators
//   exchange state        the phase of each rank, and what was received (replay/sender_log.hpp)
//   send again            the messages that the others do not have
//   restore_others        if a newcomer has not reached its restore() yet, and this rank is past it
//   receive again
//
// If a rank cannot give the others the messages that they need (its log was too large; it sends something else than its
// predecessor did), it reports that when the ranks exchange their state. Then all leave the body, and roll back
// together.

#pragma once

#include "framework/local_rollback/log_pacing.hpp"
#include "framework/local_rollback/logged_calls.hpp"
#include "framework/local_rollback/peer_packet.hpp"
#include "replay/clusters/clusters.hpp"
#include "replay/sender_log.hpp"

#include "base/error.hpp"
#include "base/ids.hpp"
#include "base/telemetry/rollback_note.hpp"

#include <mpi.h>

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mend {

class Engine;

struct LocalRollbackOptions {
  bool is_strict = false;              ///< the job ends where all ranks would have to roll back
  std::optional<ByteCount> log_limit;  ///< none: as log_limit.hpp says
  int tried = 0;                       ///< the number of ranks that end on purpose (--mend-check-determinism)
};

class LocalRollback final : public LoggedCalls {
 public:
  /// `engine` must outlive this object. The calls of the application are intercepted from now on. Local.
  LocalRollback(Engine& engine, const LocalRollbackOptions& options);
  ~LocalRollback() override;

  /// Called when the communicators of the epoch exist, before the body is entered, or after it was left while other
  /// ranks continue in it. Collective over the ranks. Throws ProcessFailure when all roll back.
  void join();
  /// Handles a failure. Returns when this rank can continue. Collective over the ranks. Throws ProcessFailure when all
  /// roll back, and agreement::Abandoned when the job ends.
  void recover();
  /// Exchanges the counts of all ranks. Collective over the ranks. Throws ProcessFailure.
  void share_counts();
  /// Repeats `work` until no failure interrupts it. Collective if `work` is.
  template <class Work>
  auto through_failures(Work work) {
    for (;;) {
      require_in_body();
      try {
        return work();
      } catch (const ProcessFailure&) {
        recover();
      }
    }
  }

  /// Returns true if this rank has left the body, or has to leave it, because its cluster rolls back. It joins the
  /// others when it enters the body again, without a recovery in between. Local.
  bool goes_back_with_cluster() const { return goes_back_with_cluster_; }
  /// Returns true if the control thread reports that the ranks wait for each other since one has rolled back, and this
  /// rank has not begun to recover from that. Local.
  bool waits_in_vain() const { return rolled_back_since_commit_ && refusal_.empty() && rollback_note::waits_in_vain; }
  bool has_to_leave() const override { return leaves_ || job_has_ended_; }
  /// Throws ProcessFailure if this rank has to leave the body. Local.
  void require_in_body() {
    if (leaves_) leave();
  }

  /// Returns session.comm() for the application. Local.
  MPI_Comm comm() const { return session_.handle.get(); }
  /// Returns true if `is_due`, or if a rank's log is nearly full. Collective: the result is the same on all ranks, and
  /// again on a rank that rolls back.
  bool commit_due(bool is_due);
  /// Runs `work`, in which the store may publish a version, and then calls `note` if it has, also when `work` meets a
  /// failure after that: the version exists on all ranks. Collective if `work` is.
  template <class Work, class Note>
  void publishing(Work work, Note note) {
    const Version before = stored_version();
    const auto note_if_published = [&] {
      if (stored_version() != before) note(stored_version());
    };
    try {
      work();
    } catch (const ProcessFailure&) {
      note_if_published();
      throw;
    }
    note_if_published();
  }
  /// Publishes the commit that is under way, if there is one, together with all ranks. Continues after failures, which
  /// void the commit. Collective if a commit is under way.
  void complete_pending();
  /// Called at the end of the body: has all ranks go back if a rank that has rolled back has taken other messages than
  /// its predecessor. Collective. Throws ProcessFailure.
  void require_same_messages();
  /// Called when the body has ended on all ranks: warns if its last commit is void. Local.
  void tell_of_void_commit() const;
  /// Returns true if `flag` is true on every rank. Collective; the result is the same again on a rank that rolls back.
  bool agree(bool flag);

  // --- for the store -------------------------------------------------------------------------------------------
  /// Returns true if another rank has restored already. Local.
  bool others_have_restored() const;
  /// Called when all ranks have restored, or this one alone has. Local.
  void restored(Version version);
  /// Called when all ranks have begun a commit: its data is that of this moment. Local.
  void begun_commit();
  /// Called when that commit is published. Local.
  void published(Version version);
  /// Called instead of begin and end of a commit that all ranks have done at once. Local.
  void committed(Version version);
  /// Returns true if the others have begun, before a failure, the commit that this rank is about to begin. It was not
  /// published, so this rank need not begin it. Local.
  bool others_have_begun_commit() const { return numbers_at_begun_.size() < numbers_known_.size(); }
  /// Called instead of begun_commit() by all ranks that had not begun the commit at the last recovery, which wait for
  /// each other. Sends need not have ended, because nothing is dropped. Throws ProcessFailure.
  void pass_commit();
  /// Called before an asynchronous commit begins. Local.
  void commits_asynchronously() { log_pacing_.commits_asynchronously(); }
  /// Returns true if a commit must not be left under way: it decides the clusters. The same on all ranks. Local.
  bool commits_at_once() const;
  /// Called when a commit begins, for --mend-check-determinism. The process of one rank may end. Collective.
  void try_rank();
  /// Throws, on all ranks, if no rank was tried although some were to be. Local.
  void require_tried() const;
  /// Throws UsageError, on all ranks, if a message or a receive is under way. `where`: "commit()". Collective.
  void require_nothing_under_way(const char* where);
  /// Returns true once this entry has restored. Local.
  bool has_restored() const { return sender_log_.phase() > 0; }

  // --- for the hooks on MPI's profiling interface --------------------------------------------------------------
  const VirtualComm* virtual_comm_of(MPI_Comm comm) const override;
  MPI_Comm comm_of_groups() const override { return comm(); }
  int derive(const VirtualComm& parent, const CommArguments& arguments, MPI_Comm* made) override;
  int derive_group(const VirtualComm& parent, const std::vector<int>& ranks, int tag, MPI_Comm* made) override;
  const Recipe* recipe_of(const VirtualComm& virtual_comm) const override;
  int free(MPI_Comm* comm) override;
  int refuse(const char* call) const override;
  LoggedMessages& messages() override { return messages_; }
  LoggedCollectives& collectives() override { return collectives_; }

 private:
  static constexpr int tag_of_exchange = 0;  // on the communicator of messages, before the application uses it
  /// Tags on the session's communicator of collectives, counted from the highest, which calls of the program hardly
  /// use.
  enum class OwnTag { acknowledgement, passing };
  static int tag_of(OwnTag message);

  using Standing = PeerState::Standing;

  /// What a process that takes over this rank has to know of the beginning of a commit.
  struct AtCommit {
    std::uint32_t number = 1;  // of the next derived communicator
    std::uint64_t steps = 0;   // as commit_due() counts
    LogPacing::State log_pacing;
  };

  int run(Call call, void* work) override;
  void begin_epoch();
  void decide_who_goes_back();
  void make_comms();
  const VirtualComm& virtual_comm_with(std::uint32_t number) const;
  void learn_nodes();
  Rank origin_of(int rank) const;
  PeerPacket packet_for(int peer) const;
  void tell_who_goes_back();
  void report(std::uint64_t resent, std::uint64_t resent_bytes);
  void serve();
  Standing standing() const;
  bool goes_back(int rank) const;
  bool sends_history() const;
  std::vector<std::uint64_t> histories() const;
  AtCommit at_commit() const;
  Version stored_version() const;
  void begin_phase();
  void meet_those_behind();
  void plan_commit_again();
  void exchange_histories();
  void begin_replay();
  void give_up(const std::string& reason);
  [[noreturn]] void leave();
  void handle(int code);
  static int pass_on();
  void reduce(void* value, MPI_Datatype type, MPI_Op op, const char* where);
  void check_messages();
  void check_sender_log();
  void check_length(bool is_too_short, bool is_cut);
  void end_replay();
  void note_gone_back(bool has_gone_back);
  void count_steps();
  void check_log();
  void choose_clusters();
  void adopt_clusters();
  void take_mates();
  void exchange_acknowledgements();
  void end_acknowledgements();
  std::size_t log_limit() const;
  [[noreturn]] void end_strictly() const;

  Engine& engine_;
  replay::SenderLog sender_log_;
  LoggedMessages messages_;
  LoggedCollectives collectives_;
  VirtualComm session_;
  DerivedComms derived_;
  std::uint32_t agreed_number_ = 1;  // of the next derived communicator, when a commit begins
  AtCommit at_version_;
  std::uint64_t steps_since_version_ = 0;
  AtCommit at_begun_commit_;
  std::uint64_t steps_at_begun_commit_ = 0;      // since the version
  std::vector<std::uint32_t> numbers_at_begun_;  // agreed_number_ at each commit that has begun since the version
  std::vector<std::uint32_t> numbers_known_;     // the longest such list of any rank, in the last recovery
  std::vector<CommitAgain> again_;
  Communicator collectives_comm_;
  Version version_{};
  int ranks_;
  std::vector<int> nodes_;         // of the ranks, for MPI_Comm_split_type
  std::vector<PeerState> others_;  // by rank, this one too
  std::string refusal_;            // why this rank refuses, if it does
  bool log_is_full_ = false;       // it refuses until the next commit
  bool was_leaving_ = false;       // it refuses, because the program should leave when a process died
  std::map<int, std::vector<replay::History>> histories_;  // in a rank that rolls back: of the others, by phase
  int ranks_back_ = 0;                     // that have to repeat what others know of them, in the last recovery
  bool is_newcomer_ = true;                // has not met the others
  bool rolled_back_since_commit_ = false;  // a rank rolled back since the last commit
  bool receives_from_any_ = false;         // some rank receives from any source
  bool job_has_ended_ = false;
  bool leaves_ = false;
  bool goes_back_with_cluster_ = false;
  bool has_mates_ = false;
  std::optional<replay::Clusters> chosen_;  // by traffic, for the next commit
  replay::ClusterPrice price_;              // of the chosen clusters
  // It reports its recomputed steps when it has caught up, once, unless they are reported for its cluster.
  bool counts_steps_ = true;
  struct Sent {
    MPI_Request request = MPI_REQUEST_NULL;
    std::vector<std::uint64_t> words;
  };
  std::list<Sent> acknowledgements_;  // being sent
  int calls_without_look_ = 0;        // for acknowledgements
  bool compares_ = false;             // its messages with those of its predecessor, until the next commit
  LocalRollbackOptions options_;
  std::uint64_t log_limit_ = 0;     // agreed on by all in restore(); 0: not yet
  std::uint64_t log_of_setup_ = 0;  // the largest of all ranks, in bytes; exchanged, because clusters may have changed
  LogPacing log_pacing_;
};

}  // namespace mend
