// The communication of `mend status`, `mend commit` and `mend stop` with the `mend run` of a job, over a UNIX socket in
// a private folder of the user. A job is named by the process id of its mend run.
//
//   XDG_RUNTIME_DIR/mend/4711.sock      or, without that variable, /tmp/mend-UID/4711.sock
//   MEND_SOCKETS/4711.sock              if the user has set MEND_SOCKETS; then jobs are looked for only there
//
// Jobs are looked for in both of the first two, and in /run/user/UID/mend, which is where XDG_RUNTIME_DIR usually
// leads: cron and su do not set that variable.
//
//   "status\n"  -->
//          <--  text of JSON, end
//
// The kernel reports the user at the other end (SO_PEERCRED): mend run answers only its own user. It serves the socket
// beside its other work, and never waits for the asking process, which waits for `patience` at most.

#pragma once

#include "base/clock.hpp"

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mend::jobs {

/// Returns the folder of this process's own socket. Makes it if it does not exist. Throws EnvironmentError if the
/// folder belongs to another user or others can enter it. Local.
std::filesystem::path socket_folder();

/// Returns the folders in which sockets of this user's jobs are looked for. Some may not exist. Local.
std::vector<std::filesystem::path> searched_folders();

/// Returns the jobs of this user whose sockets are on this machine; some of them may have ended. Local.
std::vector<pid_t> known_jobs();

/// The side of `mend run`.
class JobSocket {
 public:
  /// Returns the answer to a question.
  using Answer = std::function<std::string(const std::string& question)>;

  /// Listens for questions to job `job`. Throws EnvironmentError.
  JobSocket(pid_t job, Answer answer);
  ~JobSocket();
  JobSocket(const JobSocket&) = delete;
  JobSocket& operator=(const JobSocket&) = delete;

  /// Answers the questions that have arrived. Never waits. Local; call it repeatedly.
  void poll();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns the answer of job `job`. Throws UsageError if no job of this user with that number runs here,
/// EnvironmentError if it does not answer within `patience`. Local.
std::string ask(pid_t job, const std::string& question, Seconds patience = Seconds{3});

}  // namespace mend::jobs
