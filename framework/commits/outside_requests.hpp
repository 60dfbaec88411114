// What the job is asked for from outside while it runs: a version on disk (mend commit), or to leave in time (the time
// limit, SIGTERM, mend stop).
//
// Requests come to some processes only: on the board of the launcher's machine (base/telemetry/job_board.hpp), or as a
// signal. So a rank that has been asked says so in the ballot of its next commit, and then all ranks tell each other
// what they were asked for. All learn of it at the same commit:
//
//   asked --ballot--> tell --> the commit is written to disk --> committed
//
//   then   the program asks should_exit(): true from here on
//          it never has, and the version is on disk: the job ends
//          neither: the job goes on, and says so once
//
// A failure takes back what was agreed; those who were asked say so again at the next commit.

#pragma once

#include "base/error.hpp"
#include "base/ids.hpp"
#include "base/telemetry/job_board.hpp"

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

namespace mend {

class OutsideRequests {
 public:
  /// What the ranks do after a commit at which they had been asked.
  enum class Next : std::uint8_t { go_on, end };

  /// `disk`: the folder of --mend-disk; empty if there is none.
  explicit OutsideRequests(std::filesystem::path disk) : disk_(std::move(disk)) {}

  /// From now on the first SIGTERM of this process is a request; the second ends it. Does nothing if the program
  /// handles SIGTERM itself. Local.
  static void heed_sigterm();

  /// Forgets what was agreed. Local.
  void begin_epoch() { leaves_ = was_told_ = false; }
  /// Returns true if this rank was asked for something that has not been done. Local.
  bool any() const;
  /// All ranks tell each other. Collective over `comm`, whose errors are thrown.
  void tell(MPI_Comm comm);
  /// The commit of `version` is published; `on_disk`: also there. `speaks`: this rank speaks for all. The same on all
  /// ranks. Local.
  Next committed(Version version, bool on_disk, bool speaks);

  /// Returns true if the program shall leave: the same on all ranks, from one commit to the next. Local.
  bool should_exit();
  /// Returns true if the program shall leave, whether it has looked or not: the same on all ranks. Local.
  bool leaves() const { return leaves_; }
  /// Returns true if should_exit() has said so in this epoch. Local.
  bool was_told() const { return was_told_; }
  /// The body has been entered, or left: then requests are too late. Local.
  void begin_body() { is_closed_ = false; }
  void end_body() { is_closed_ = true; }
  /// Why the job ends, and how to go on. After committed() has returned Next::end, or was_told().
  const std::string& sentence() const { return sentence_; }

 private:
  board::Leave asked_to_leave() const;

  std::filesystem::path disk_;
  bool looks_ = false;     // this process has called should_exit()
  bool all_look_ = false;  // some process has
  bool leaves_ = false;    // agreed
  bool was_told_ = false;  // leaves_, by should_exit()
  bool has_warned_ = false;
  bool is_closed_ = false;
  board::Leave leave_ = board::Leave::no;  // agreed
  std::uint32_t writes_ = 0;               // agreed
  std::uint32_t writes_done_ = 0;
  std::string sentence_;
};

}  // namespace mend
