// Fenix's message logs: what a rank sends on a communicator while a log is active is kept, so that a process that takes
// over a rank can go through its work again alone, and the others stay where they are.
//
//   MPI call --hooks--> run() --> LoggedMessages, LoggedCollectives --> the log's regions (replay/region_log.hpp)
//                                  |                                     (kept, committed as a member of a data group)
//                                  v
//                    the communicator itself, and one beneath for what collective calls are made of
//
// After a failure the log is of no use until sync(): there all ranks say from where they go on, tell each other what
// they have received, and send again what is missing. Who syncs when is up to the program: in its callbacks, where it
// resumes, or (FENIX_MLOG_RECOVERY_INLINE_AUTOSYNC) by itself when a failure has been recovered from.
//
// A call that a failure interrupts goes on if recovery is in place (FENIX_MLOG_RECOVERY_INLINE, and a log is active).
// Otherwise it has not happened: what was sent and received in it is taken back, and the program makes it again, or
// goes back.

#pragma once

#include "base/ids.hpp"
#include "framework/replay/logged_calls.hpp"
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
  /// Nobody else uses them any more. Local.
  ~MessageLogs() override;

  // --- for Fenix's functions; they throw Refused ---------------------------------------------------------------
  /// `comm` is read again in each sync(). Local.
  void create(int id, MPI_Comm* comm, int depth);
  /// FENIX_MLOG_NONE: none is. Local.
  void activate(int id);
  /// FENIX_MLOG_NONE if none is. Local.
  int active() const;
  void begin_region(int id, int region);
  /// This rank goes on at `region`, or where its log is (FENIX_MLOG_CONTINUE). Collective over the ranks. Throws
  /// ProcessFailure.
  void sync(int id, int region);
  /// The same for each that was not synced since the failure, in the order in which they were created.
  void sync_all();
  void remove(int id);
  /// A log as it is committed. Local.
  std::vector<std::byte> write(int id) const;
  void read(int id, std::span<const std::byte> bytes);
  bool contains(int id) const { return logs_.contains(id); }
  void require_known(int id) const;

  // --- for the job -----------------------------------------------------------------------------------------------
  /// Whether calls that a failure interrupts go on. Local.
  bool recovers_in_place() const;
  /// A failure was recovered from: the communicators of before are revoked. `keeps_receives`: those that are under way
  /// begin anew with the next sync(), and end with an error otherwise. Local.
  void end_epoch(bool keeps_receives);
  /// A new epoch has begun; its first is that of the job. Collective over the ranks. Throws ProcessFailure.
  void begin_epoch();
  /// Returns true if there are as many ranks as the logs were created for. Local.
  bool fits() const;
  /// Returns true if each log that has messages was synced since the failure. Local.
  bool all_synced() const;

  /// While calls are paused, none is logged: those of callbacks, and mend's own. May be nested.
  void pause() { ++inside_; }
  void go_on() { --inside_; }
  /// A jump has left all of them.
  void end_pauses() { inside_ = 0; }
  /// Pauses while it lives.
  class Paused {
   public:
    explicit Paused(MessageLogs& logs) : inside_(logs.inside_) {}

   private:
    Inside inside_;
  };

  // --- for the hooks ---------------------------------------------------------------------------------------------
  const Front* front_of(MPI_Comm comm) const override;
  LoggedMessages& messages() override { return messages_; }
  LoggedCollectives& collectives() override { return collectives_; }
  int derive(const Front& parent, int color, int key, const std::vector<int>& dims, const std::vector<int>& periods,
             MPI_Comm* made) override;
  const Recipe* recipe_of(const Front& front) const override;
  int free(MPI_Comm* comm) override;
  bool is_logging() const override { return active_ != nullptr; }
  int refuse(const char* call) const override;

 private:
  struct Log {
    Log(std::size_t depth, replay::Hash hash) : regions(depth, hash) {}
    int id = 0;
    MPI_Comm* comm = nullptr;  ///< the application's variable
    Front front;
    replay::RegionLog regions;
    std::optional<Epoch> synced;
  };

  /// Brings what is noted of a message to its log.
  class ByFront final : public replay::MessageLog {
   public:
    explicit ByFront(MessageLogs& all) : all_(all) {}
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
  void set_lines(Log& log) const;
  void require_one_log(const replay::Channel& channel, bool is_send);
  void exchange(Log& log, const std::vector<replay::RegionLog::Position>& positions);
  std::vector<std::uint64_t> exchanged(int to, int from, const std::vector<std::uint64_t>& packet) const;

  ByFront by_front_;
  LoggedMessages messages_;
  LoggedCollectives collectives_;
  std::map<int, std::unique_ptr<Log>> logs_;
  std::vector<int> order_;                     // in which they were created
  std::vector<std::unique_ptr<Log>> retired_;  // deleted in this epoch
  Log* active_ = nullptr;
  Communicator line_;                                          // beneath collective calls
  std::map<std::tuple<MPI_Comm, int, int, bool>, int> users_;  // which log has messages of a communicator, peer and tag
};

/// This process's, between Fenix_Init and the end of Fenix_Finalize.
MessageLogs& message_logs();

}  // namespace mend::fenix
