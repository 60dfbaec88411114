// Requests to the running job from outside: to write a version to disk (mend commit), or to leave in time (the time
// limit, SIGTERM, mend stop).
//
// A request reaches only some processes: on the board of the launcher's machine (base/telemetry/job_board.hpp), or as a
// signal: SIGTERM, or, if no process is on the launcher's machine, SIGURG by way of mpirun, which other programs
// ignore. So a rank that was asked says so in the ballot of its next commit, and then all ranks exchange their
// requests. All learn of them at the same commit:
//
//   asked --ballot--> tell --> the commit is written to disk --> committed
//
// then   the program calls should_exit(): it returns true from now on
//        the program never calls it, and the version is on disk: the job ends
//        neither: the job continues, and one rank writes a warning
//
// A failure discards what was agreed; the ranks that were asked say so again at the next commit. Under local rollback,
// all ranks go back then: those that have left the body would not meet the one that goes back. The job decision
// (framework/recovery/job_decision.hpp) tells all processes how many requests to write a version have been carried out,
// so that a process that takes over a rank does not repeat them.

#pragma once

#include "base/error.hpp"
#include "base/ids.hpp"
#include "base/telemetry/job_board.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

namespace mend {

class OutsideRequests {
 public:
  /// The next step after a commit at which ranks were asked.
  enum class Next : std::uint8_t { go_on, end };

  /// `disk`: the folder of --mend-disk; empty if there is none.
  explicit OutsideRequests(std::filesystem::path disk) : disk_(std::move(disk)) {}

  /// Makes the first SIGTERM of this process a request; the second ends the process, and so does one from the
  /// launcher's daemon. Does nothing if the program handles SIGTERM itself. Local.
  static void heed_sigterm();
  /// Makes SIGURG a request of the launcher to leave. Does nothing if the program handles it. Local.
  static void heed_launcher();

  /// Forgets what was agreed. Local.
  void begin_epoch() {
    was_leaving_ = was_leaving_ || leaves_;
    leaves_ = was_told_ = false;
    leave_ = board::Leave::no;
  }
  /// Returns true once if the program should leave when an epoch began. Local.
  bool take_was_leaving() { return std::exchange(was_leaving_, false); }
  /// Returns how many requests to write a version have been carried out, as far as this process knows; the same on all
  /// ranks. Local.
  std::uint32_t writes_done() const { return writes_done_; }
  /// Records that so many have been carried out, perhaps before this process took over a rank. Local.
  void hear(std::uint32_t writes) { writes_done_ = std::max(writes_done_, writes); }
  /// Returns true if this rank has a request that has not been carried out. Local.
  bool any() const;
  /// Returns true if this rank has a request that not all ranks know. Local.
  bool any_is_new() const;
  /// Exchanges the requests of all ranks. Collective over `comm`, whose errors are thrown.
  void tell(MPI_Comm comm);
  /// Handles the publication of commit `version`. `on_disk`: it is on disk too. `speaks`: this rank writes messages for
  /// all. The same on all ranks. Local.
  Next committed(Version version, bool on_disk, bool speaks);

  /// Returns true if the program shall leave. The result is the same on all ranks and changes only at a commit. Local.
  bool should_exit();
  /// Returns the same, but does not count as a call of the program. Local.
  bool leaves() const { return leaves_; }
  /// Returns true if should_exit() has returned true in this epoch. Local.
  bool was_told() const { return was_told_; }
  /// Records that the body was entered, or that it has returned. After it has returned, requests are ignored. Local.
  void begin_body() { is_closed_ = false; }
  void end_body() { is_closed_ = true; }
  /// Returns why the job ends, and how to continue it. Valid after committed() has returned Next::end, or was_told()
  /// true.
  const std::string& sentence() const { return sentence_; }

 private:
  bool asks_for_version() const;

  board::Leave asked_to_leave() const;

  std::filesystem::path disk_;
  bool looks_ = false;        // this process has called should_exit()
  bool all_look_ = false;     // some process has called should_exit(), agreed
  bool leaves_ = false;       // the program shall leave, agreed
  bool was_told_ = false;     // should_exit() has returned true
  bool was_leaving_ = false;  // leaves_, before a failure
  bool has_warned_ = false;
  bool is_closed_ = false;
  board::Leave leave_ = board::Leave::no;  // agreed
  std::uint32_t writes_ = 0;               // agreed
  std::uint32_t writes_done_ = 0;
  std::string sentence_;
};

}  // namespace mend
