// The reports of a program on its progress to `mend run`, which launched it. The exit code of mpirun is not reliable:
// it is 0 when every process was killed. So each process appends lines to a file that the launcher has created and
// named in the environment variable MEND_STATUS_FILE:
//
//   loaded P M   before main, if it is linked with mend: process P of machine M. Followed by "later" if the job has
//                started it for the rank of a dead process.
//   started      before MPI_Init. All processes have written it before any leaves MPI_Init, so the launcher knows
//                whether the whole job runs where it can read the file.
//   running      after MPI_Init.
//   introduced P after all living processes have met and begun to watch each other. Until then only the launcher
//                notices a process that has died or hangs (jobs/watch/start_watch.hpp).
//   unwatched P  when all have decided that the job ends, and process P is not watched by the others any more. From
//                here until `closed` the launcher limits the time that P takes (jobs/watch/end_watch.hpp).
//   finished N P I R
//                after the living processes have agreed that the application is done, with exit code N: from process
//                P, the I-th of the job, which has rank R (a spare has none).
//   ended E      when a process has learnt that the end is decided, in epoch E.
//   erred P E    when process P has an error in mend's part, and ends, after that, or after it has voted for the end in
//                epoch E. If the end is decided in that epoch, no process recovers from this, and the rest of P's
//                program after the job does not run.
//   unseen       before that, when there are dead processes that the runtime does not know of. The runtime will wait
//                for them for ever.
//   closed P     after process P has left MPI, or has returned it to a caller that initialised it. Everything later
//                belongs to the program.
//   left N P     when process P exits with N, after it has finished. A code other than 0 and the one agreed on means
//                that it has found an error of its own. A process that is killed does not write this line.
//   crashed N    when signal N ends it by a fault of its own (base/death/crash_report.hpp), after mend::run.
//   crashed-early N P R
//                when signal N ends process P, the R-th of the job, in that way before it is introduced.
//   quit N P     when process P exits with N without having finished.
//   skipped N Q P
//                the same, if P has called neither mend::run nor MPI_Init, where the others will wait for it, and its
//                parent is process Q.
//   aborted N TEXT
//                when it has called MPI_Abort with N for other processes too, or has done what leaves it no other way:
//                the launcher ends the job, and says why: TEXT, which is empty for MPI_Abort.
//   said TEXT    when it has printed on standard error why the job does not begin, or why it ends: TEXT.
//   unsaid TEXT  that reason, from a process that leaves the printing to another process, which may be dead.
//
// On another node the file does not exist and nothing is written; see jobs/run/verdict.hpp for what the launcher
// concludes from that. Without a launcher nothing is written either.

#pragma once

#include "base/error.hpp"
#include "base/ids.hpp"
#include "base/launch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace mend::job_status {

/// The variable that names the file which the launcher has created for this job.
inline constexpr const char* environment_variable = "MEND_STATUS_FILE";

namespace detail {
inline bool has_started = false;
inline std::atomic<bool> has_finished{false};
inline constexpr std::int64_t none = -1;
inline std::atomic<std::int64_t> epoch_of_vote{none};  // for the end
inline std::atomic<bool> is_at_end{false};

/// Returns true if the launcher can read the line. Safe in a signal handler.
inline bool append_to(const char* path, std::string_view line) {
  // No O_CREAT: if the file does not exist, the launcher is on another node.
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return false;
  // One short appending write is atomic among the processes. If the write fails, for instance because the disk is full,
  // the launcher may report a good end as a failure, but never a bad end as a good one.
  const auto written = ::write(file, line.data(), line.size());
  ::close(file);
  return written == static_cast<ssize_t>(line.size());
}

inline bool append(std::string_view line) {
  const char* path = std::getenv(environment_variable);
  return path != nullptr && append_to(path, line);
}

inline std::string self() { return std::to_string(::getpid()); }
}  // namespace detail

/// Every process, before main. Local.
inline void loaded() {
  detail::append("loaded " + detail::self() + " " + launch::machine() + (launch::host_address() ? " later\n" : "\n"));
}

/// Every process that exits, as late as possible. `met_others`: true if it has called MPI_Init. Local.
inline void left(int status, bool met_others = true) {
  std::array<char, 80> line{};
  if (detail::has_finished) {
    std::snprintf(line.data(), line.size(), "left %d %d\n", status, ::getpid());
  } else if (detail::has_started || met_others) {
    std::snprintf(line.data(), line.size(), "quit %d %d\n", status, ::getpid());
  } else {
    std::snprintf(line.data(), line.size(), "skipped %d %d %d\n", status, ::getppid(), ::getpid());
  }
  detail::append(line.data());
}

/// The same for a process that exits without cleaning up, possibly in a signal handler. Before it has finished, that is
/// a death, which the others report. Local.
inline void left_quickly(int status) {
  if (detail::has_finished) left(status);
}

/// Every process, before MPI_Init. Local.
inline void started() {
  detail::has_started = true;
  detail::append("started\n");
}

/// Every process, after MPI_Init. Local.
inline void running() { detail::append("running\n"); }

/// Every process, once the failure detector watches it and it watches others. Local.
inline void introduced() { detail::append("introduced " + detail::self() + "\n"); }

/// Every process, before others may learn that it votes for the end of the job in this epoch; without an epoch when
/// they have decided otherwise. Local.
inline void votes_for_end(std::optional<Epoch> epoch) {
  detail::epoch_of_vote = epoch ? static_cast<std::int64_t>(epoch->value) : detail::none;
}

/// Every process, when it has learnt that the end is decided, for which it has voted. Local.
inline void at_end() {
  detail::is_at_end = true;
  detail::append("ended " + std::to_string(detail::epoch_of_vote) + "\n");
}

/// Answers whether the end of the job is decided, so that the other processes no longer recover from the death of this
/// process: no; perhaps, if this process has voted for the end; or yes. Local.
enum class AtEnd { no, perhaps, yes };
inline AtEnd is_at_end() {
  if (detail::is_at_end || detail::has_finished) return AtEnd::yes;
  return detail::epoch_of_vote == detail::none ? AtEnd::no : AtEnd::perhaps;
}

/// A process that cannot continue, unless is_at_end() is no. Returns true if the launcher can read the report.
/// Allocates no memory. Local.
inline bool erred() {
  std::array<char, 64> line{};
  std::snprintf(line.data(), line.size(), "erred %d %lld\n", ::getpid(),
                static_cast<long long>(detail::epoch_of_vote.load()));
  return detail::append(line.data());
}

/// Every process, when the end is decided and its failure detector has stopped. Local.
inline void unwatched() { detail::append("unwatched " + detail::self() + "\n"); }

/// Every process, when mend's part in it has ended. Local.
inline void closed() { detail::append("closed " + detail::self() + "\n"); }

/// A process that knows of deaths that the runtime has not reported, before it writes `finished`. Local.
inline void unseen() { detail::append("unseen\n"); }

namespace detail {
/// Returns `text` in one line.
inline std::string line_of(const char* word, std::string_view text) {
  std::string line = std::string(word) + " " + std::string(text);
  std::ranges::replace(line, '\n', ' ');
  return line + "\n";
}
}  // namespace detail

/// A process that ends the job. `why`: the reason that the launcher prints, empty for MPI_Abort. Returns true if the
/// launcher will end the job. Local.
inline bool aborted(int code, std::string_view why = {}) {
  return detail::append(detail::line_of(("aborted " + std::to_string(code)).c_str(), why));
}

/// A process that has printed why the job does not begin, or why it ends. `why`: the text printed. Local.
inline void said(std::string_view why) { detail::append(detail::line_of("said", why)); }

/// A process that leaves the printing to another. `why`: one sentence. Local.
inline void unsaid(std::string_view why) { detail::append(detail::line_of("unsaid", why)); }

/// Every living process, after all have agreed on `code` and before MPI_Finalize; with its number and rank, if it knows
/// them. Local.
inline void finished(ExitCode code, std::optional<ProcessId> process = {}, std::optional<Rank> rank = {}) {
  std::string line = "finished " + std::to_string(static_cast<int>(code)) + " " + detail::self();
  if (process) line += " " + std::to_string(process->value);
  if (process && rank) line += " " + std::to_string(rank->value);
  detail::append(line + "\n");
  detail::has_finished = true;
}

}  // namespace mend::job_status
