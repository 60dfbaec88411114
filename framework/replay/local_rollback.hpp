// Local rollback (--mend-rollback local): when a process dies, only the one that takes over its rank goes back. All
// others stay in the MPI call that they are in, and go on when the message that it waits for is there again.
//
// There is one in each entry of the body. It stands between the application's MPI calls on session.comm() and MPI
// (framework/process/call_hooks.cpp), and between the application and the store (local_store.hpp). A call that a
// failure interrupts comes to recover():
//
//   recover in place      as Session::repair does, in the call
//   new lines             beneath the fronts
//   tell each other       who is in which phase, and what was received (replay/ledger.hpp)
//   send again            what the others do not have
//   restore_others        if a newcomer is on its way to its restore(), and this rank is past it
//   receive again
//
// A rank that cannot give the others what they need (its log was too large; it sends something else than its
// predecessor did) says so when all tell each other. Then all leave the body, and go back together.

#pragma once

#include "framework/replay/logged_calls.hpp"
#include "replay/ledger.hpp"

#include "base/error.hpp"
#include "base/ids.hpp"

#include <mpi.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mend {

class Engine;

class LocalRollback final : public LoggedCalls {
 public:
  /// `engine` outlives it. Its calls are intercepted from now on. Local.
  explicit LocalRollback(Engine& engine);
  ~LocalRollback() override;

  /// The communicators of the epoch are there, and the body is about to be entered; or it has been left, and others go
  /// on in it. Collective over the ranks. Throws ProcessFailure when all go back.
  void join();
  /// A failure was met: returns when this rank can go on. Collective over the ranks. Throws ProcessFailure when all go
  /// back, and agreement::Abandoned when the job ends.
  void recover();
  /// All learn what the others have counted. Collective over the ranks. Throws ProcessFailure.
  void share_tally();
  /// Does `work` until no failure interrupts it. Collective if `work` is.
  template <class Work>
  auto through_failures(Work work) {
    for (;;) {
      try {
        return work();
      } catch (const ProcessFailure&) {
        recover();
      }
    }
  }

  /// What the application sees as session.comm(). Local.
  MPI_Comm comm() const { return session_.handle.get(); }
  /// `flag` is true on every rank. Collective; the same again for a rank that goes back.
  bool agree(bool flag);

  // --- for the store -------------------------------------------------------------------------------------------
  /// Returns true if this rank is the only one, with others like it, that has not restored. Local.
  bool restores_alone() const;
  /// All ranks have restored, or this one alone has. Local.
  void restored(Version version);
  /// All ranks have committed. Local.
  void committed(Version version);
  /// Throws UsageError, on all ranks, if a message or a receive is under way. `where`: "commit()". Collective.
  void require_nothing_under_way(const char* where);
  /// Returns true once this entry has restored. Local.
  bool has_restored() const { return ledger_.phase() == replay::Ledger::Phase::interval; }

  // --- for the hooks on MPI's profiling interface --------------------------------------------------------------
  const Front* front_of(MPI_Comm comm) const override;
  int derive(const Front& parent, int color, int key, const std::vector<int>& dims, const std::vector<int>& periods,
             MPI_Comm* made) override;
  const Recipe* recipe_of(const Front& front) const override;
  int free(MPI_Comm* comm) override;
  int refuse(const char* call) const override;
  LoggedMessages& messages() override { return messages_; }
  LoggedCollectives& collectives() override { return collectives_; }

 private:
  /// What each rank tells all others of itself after a recovery.
  struct Header {
    std::uint64_t phase;              ///< replay::Ledger::Phase
    std::uint64_t version;            ///< restored or committed last
    std::uint64_t steps;              ///< since the commit before that, as commit_due() counts
    std::uint64_t refuses;            ///< cannot give others what they need
    std::uint64_t kept;               ///< steps since the version
    std::uint64_t logged;             ///< bytes
    std::uint64_t number;             ///< of the next derived communicator, at the version
    std::uint64_t standing;           ///< Standing
    std::uint64_t receives_from_any;  ///< has done so, or knows of another that has
  };

  /// Of a rank, as it tells others after a recovery.
  enum class Standing : std::uint8_t {
    settled,
    newcomer,  ///< has begun, and met nobody
    replays,   ///< has met the others before, and has not done again what they know of it
  };

  int run(Call call, void* work) override;
  void begin_epoch();
  void make_lines();
  const Front& front_with(std::uint32_t number) const;
  std::vector<std::uint64_t> packet_for(int peer) const;
  std::vector<std::uint64_t> exchanged(int to, int from, const std::vector<std::uint64_t>& packet) const;
  void hear(int peer, const std::vector<std::uint64_t>& packet);
  void tell_who_goes_back();
  void report(std::uint64_t resent, std::uint64_t resent_bytes);
  void serve();
  Standing standing() const;
  bool goes_back(int rank) const;
  bool sends_history() const;
  std::vector<std::uint64_t> histories() const;
  void exchange_histories();
  void begin_replay();
  void give_up(const std::string& reason);
  [[noreturn]] void leave();
  void handle(int code);
  static int pass_on();
  void check_ledger();
  void count_steps();
  void check_log();

  Engine& engine_;
  replay::Ledger ledger_;
  LoggedMessages messages_;
  LoggedCollectives collectives_;
  Front session_;
  DerivedFronts derived_;
  std::uint32_t agreed_number_ = 1;  // of the next derived communicator: as all agreed at the next version
  std::uint32_t number_ = 1;         // the same at the present version
  Communicator collectives_line_;
  Version version_{};
  std::uint64_t steps_ = 0;
  int ranks_;
  std::vector<Header> others_;                               // by rank, this one too
  std::vector<ProcessId> told_;                              // by rank: the process last seen there
  std::string refusal_;                                      // why this rank refuses, if it does
  std::array<std::map<int, replay::History>, 2> histories_;  // of a rank that goes back: the others', by phase
  bool goes_back_alone_ = false;
  bool is_newcomer_ = true;         // has met nobody
  bool has_recovered_ = false;      // since the last commit
  bool receives_from_any_ = false;  // some rank does
  bool leaves_ = false;
};

}  // namespace mend
