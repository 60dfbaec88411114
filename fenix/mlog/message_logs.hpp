// Fenix's message logs. While a log is active, it keeps what a rank sends on its communicator, so that a process that
// takes over a rank can repeat the rank's work alone while the other ranks stay where they are.
//
//   MPI call --hooks--> run() --> LoggedMessages, LoggedCollectives --> the log's regions (replay/region_log.hpp)
//                                  |                                     (kept, committed as a member of a data group)
//                                  v
//                    the communicator itself, and one beneath for the messages of collective calls
//
// After a failure a log cannot be used until sync(). In sync() each rank gives the region at which it continues, the
// ranks exchange lists of the messages that they have received, and missing messages are sent again. The program
// decides when to call sync(): in its callbacks, or where it resumes. With FENIX_MLOG_RECOVERY_INLINE_AUTOSYNC the logs
// are synced after each recovery.
//
// A call that a failure interrupts continues after the recovery if recovery is in place (FENIX_MLOG_RECOVERY_INLINE,
// and a log is active). Otherwise the call is undone: the log forgets the messages that were sent and received in it,
// and the program repeats the call or rolls back.

#pragma once

#include "base/ids.hpp"
#include "framework/local_rollback/logged_calls.hpp"
#include "replay/region_log.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace mend::fenix {

class MessageLogs final : public LoggedCalls {
 public:
  MessageLogs();
  /// After it, nothing may use the logs. Local.
  ~MessageLogs() override;

  // --- for Fenix's functions; all throw Refused ---------------------------------------------------------------
  /// Creates a log for the communicator `*comm`, which is read again in each sync(). `depth`: the number of regions
  /// that are kept. Local.
  void create(int id, MPI_Comm* comm, int depth);
  /// Makes one log active; FENIX_MLOG_NONE deactivates all. Local.
  void activate(int id);
  /// Returns the active log, or FENIX_MLOG_NONE. Local.
  int active() const;
  void begin_region(int id, int region);
  /// Synchronises one log. This rank continues at `region`, or where its log is (FENIX_MLOG_CONTINUE). Collective over
  /// the ranks. Throws ProcessFailure.
  void sync(int id, int region);
  /// Synchronises all logs that were not synced since the failure, in the order of their creation.
  void sync_all();
  void remove(int id);
  /// Returns the bytes of a log for a commit. Local.
  std::vector<std::byte> write(int id) const;
  void read(int id, std::span<const std::byte> bytes);
  bool contains(int id) const { return logs_.contains(id); }
  void require_known(int id) const;

  // --- for the job -----------------------------------------------------------------------------------------------
  /// Returns true if calls that a failure interrupts continue after the recovery. Local.
  bool recovers_in_place() const;
  /// Ends the epoch after a recovery; its communicators are revoked. `keeps_receives`: pending receives are started
  /// again by the next sync(); otherwise they end with an error. Local.
  void end_epoch(bool keeps_receives);
  /// Begins a new epoch, or the first one of the job. Collective over the ranks. Throws ProcessFailure.
  void begin_epoch();
  /// Called at the end of the job: drops pending receives, whose requests stay the program's, and what is being sent
  /// stays until the process ends. Local.
  void leave_to_program();
  /// Returns true if there are as many ranks as the logs were created for. Local.
  bool fits() const;
  /// Returns true if each log that has messages was synced since the failure. Local.
  bool all_synced() const;

  /// Pauses logging, for the calls of callbacks and for mend's own. Pauses may be nested.
  void pause() { ++inside_; }
  void resume() { --inside_; }
  /// Ends all pauses, after a longjmp that has left them.
  void end_pauses() { inside_ = 0; }
  /// Pauses logging during its lifetime.
  class Paused {
   public:
    explicit Paused(MessageLogs& logs) : inside_(logs.inside_) {}

   private:
    Inside inside_;
  };

  // --- for the hooks ---------------------------------------------------------------------------------------------
  const VirtualComm* virtual_comm_of(MPI_Comm comm) const override;
  LoggedMessages& messages() override { return messages_; }
  LoggedCollectives& collectives() override { return collectives_; }
  int derive(const VirtualComm& parent, const CommArguments& arguments, MPI_Comm* made) override;
  int derive_group(const VirtualComm& parent, const std::vector<int>& ranks, int tag, MPI_Comm* made) override;
  const Recipe* recipe_of(const VirtualComm& virtual_comm) const override;
  int free(MPI_Comm* comm) override;
  bool is_logging() const override { return active_ != nullptr; }
  int refuse(const char* call) const override;

 private:
  struct Log {
    Log(std::size_t depth, replay::Hash hash) : regions(depth, hash) {}
    int id = 0;
    MPI_Comm* comm = nullptr;  ///< the variable of the application
    VirtualComm virtual_comm;
    replay::RegionLog regions;
    std::optional<Epoch> synced;
  };

  /// Passes the record of a message on to the log of its communicator.
  class ByComm final : public replay::MessageLog {
   public:
    explicit ByComm(MessageLogs& all) : all_(all) {}
    Copy begin_send(const replay::Channel& channel, std::size_t size) override;
    void end_send(const replay::Channel& channel, std::span<const std::byte> copy) override;
    void receive(const replay::Channel& channel, std::span<const std::byte> bytes, bool by_request) override;

   private:
    replay::RegionLog& of(const replay::Channel& channel) const;
    MessageLogs& all_;
  };

  int run(Call call, void* work) override;
  void recover_in_call();
  Log& find(int id) const;
  Epoch epoch() const;
  bool is_synced(const Log& log) const;
  bool needs_no_sync(const Log& log) const;
  void renew(Log& log);
  void set_comms(Log& log) const;
  void require_one_log(const replay::Channel& channel, bool is_send);
  void exchange(Log& log, const std::vector<replay::RegionLog::Position>& positions);

  ByComm by_comm_;
  LoggedMessages messages_;
  LoggedCollectives collectives_;
  std::map<int, std::unique_ptr<Log>> logs_;
  std::vector<int> order_;                     // logs in the order of their creation
  std::vector<std::unique_ptr<Log>> retired_;  // deleted in this epoch
  Log* active_ = nullptr;
  bool nothing_was_logged_ = false;                            // by any rank, before the failure that began this epoch
  Communicator exchange_comm_;                                 // carries packets, and the messages of collective calls
  std::map<std::tuple<MPI_Comm, int, int, bool>, int> users_;  // the log that has messages of a communicator, peer, tag
};

/// Returns the message logs of this process. Valid between Fenix_Init and the end of Fenix_Finalize.
MessageLogs& message_logs();

}  // namespace mend::fenix
