// How a program tells `mend run`, which launched it, how far it has come. mpirun's exit code is not evidence: it is 0
// when every process was killed. So each process appends a line to a file that the launcher made and named in the
// environment variable MEND_STATUS_FILE:
//
//   loaded P M   before main, if it is linked with mend: process P of machine M. Followed by "later" if the job has
//                started it for the rank of a dead one.
//   started      before MPI_Init. All processes have written it before any leaves MPI_Init, so the launcher knows
//                whether the whole job runs where it can read the file.
//   running      after MPI_Init.
//   introduced P after all living processes have met and begun to watch each other. Until then only the launcher
//                notices a process that has died or stands still (jobs/watch/start_watch.hpp).
//   unwatched P  when all have decided that the job ends, and process P has come to where nobody watches it any more.
//                From here until `closed` the launcher bounds what it does (jobs/watch/end_watch.hpp).
//   finished N P I R
//                after the living have agreed that the application is done, with the exit code they agreed on: from
//                process P, the I-th of the job, which has rank R (a spare has none).
//   erred P      when process P has an error of its own in mend's part after that decision, and ends: what the program
//                would have done in it after the job is not done.
//   unseen       before that, when processes are dead of which the runtime does not know: it will wait for them for
//                ever.
//   closed P     after process P has left MPI, or has given it back to a caller who initialised it. What it does later
//                is the program's own.
//   left N P     when process P exits with N, after it has finished: with anything but 0 or what was agreed on, it has
//                found an error of its own. One that is killed does not come to this.
//   crashed N    when signal N ends it by a fault of its own (base/death/crash_report.hpp), after mend::run.
//   crashed-early N P R
//                when signal N ends process P, the R-th of the job, in that way before it is introduced.
//   quit N P     when process P exits with N without having finished.
//   skipped N Q P
//                the same of one that has come neither to mend::run nor to MPI_Init, where the others will wait for
//                it, and whose parent is process Q.
//   aborted N    when it has called MPI_Abort with N for others, too: the launcher ends the job.
//   said         when it has said on standard error why the job does not begin.
//   unsaid TEXT  that reason, from one that leaves it to another to say it, who may be dead.
//
// On another node the file does not exist and nothing is written; jobs/run/verdict.hpp says what the launcher makes of
// that. Without a launcher nothing is written either.

#pragma once

#include "base/error.hpp"
#include "base/ids.hpp"
#include "base/launch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace mend::job_status {

/// Names the file that the launcher made for this job.
inline constexpr const char* environment_variable = "MEND_STATUS_FILE";

namespace detail {
inline bool has_started = false;
inline bool has_finished = false;
inline bool is_at_end = false;

/// Returns whether a launcher can read it. Safe in a signal handler.
inline bool append_to(const char* path, std::string_view line) {
  // No O_CREAT: a file that is not there belongs to a launcher on another node.
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return false;
  // One short appending write is atomic among the processes. Were it to fail, the launcher would miss a good end,
  // never take a bad one for good.
  [[maybe_unused]] const auto written = ::write(file, line.data(), line.size());
  ::close(file);
  return true;
}

inline bool append(std::string_view line) {
  const char* path = std::getenv(environment_variable);
  return path != nullptr && append_to(path, line);
}

inline std::string self() { return std::to_string(::getpid()); }
}  // namespace detail

/// Every process, before main. Local.
inline void loaded() {
  detail::append("loaded " + detail::self() + " " + launch::machine() + (launch::door() ? " later\n" : "\n"));
}

/// Every process that exits, as late as may be; whether it has come to MPI_Init. Local.
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

/// The same of one that exits by a quick way out, in a signal handler perhaps. Before it has finished that is a death,
/// which the others tell. Local.
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

/// Every process, when it has learnt that the end is decided. Local.
inline void at_end() { detail::is_at_end = true; }

/// Whether nothing follows in which the others would make up for the death of this process. Local.
inline bool is_at_end() { return detail::is_at_end || detail::has_finished; }

/// A process that cannot go on, after that. Returns whether the launcher will know. Local; asks for no memory.
inline bool erred() {
  std::array<char, 32> line{};
  std::snprintf(line.data(), line.size(), "erred %d\n", ::getpid());
  return detail::append(line.data());
}

/// Every process, when the end is decided and its failure detector has stopped. Local.
inline void unwatched() { detail::append("unwatched " + detail::self() + "\n"); }

/// Every process, when mend's part in it is over. Local.
inline void closed() { detail::append("closed " + detail::self() + "\n"); }

/// A process that knows of deaths which the runtime has not told, before it says that it has finished. Local.
inline void unseen() { detail::append("unseen\n"); }

/// A process that is to end the job. Returns whether the launcher will. Local.
inline bool aborted(int code) { return detail::append("aborted " + std::to_string(code) + "\n"); }

/// A process that has told the user why the job does not begin. Local.
inline void said() { detail::append("said\n"); }

/// A process that leaves that to another: one sentence. Local.
inline void unsaid(std::string_view why) { detail::append("unsaid " + std::string(why) + "\n"); }

/// Every living process, once all have agreed on `code` and before MPI_Finalize: which it is, once it knows. Local.
inline void finished(ExitCode code, std::optional<ProcessId> process = {}, std::optional<Rank> rank = {}) {
  std::string line = "finished " + std::to_string(static_cast<int>(code)) + " " + detail::self();
  if (process) line += " " + std::to_string(process->value);
  if (process && rank) line += " " + std::to_string(rank->value);
  detail::append(line + "\n");
  detail::has_finished = true;
}

}  // namespace mend::job_status
