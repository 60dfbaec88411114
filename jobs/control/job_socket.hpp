// How `mend status`, `mend commit` and `mend stop` talk to the `mend run` of a job: over a UNIX socket in a folder that
// is the user's alone. The job is called by the process number of its mend run.
//
//   XDG_RUNTIME_DIR/mend/4711.sock      or, without that variable, /tmp/mend-UID/4711.sock
//   MEND_SOCKETS/4711.sock              if the user has named a folder; then jobs are looked for there alone
//
//   "status\n"  -->
//          <--  text of JSON, end
//
// The kernel tells who is at the other end (SO_PEERCRED): mend run answers its own user only. It serves the socket
// beside its other work, and never waits for whoever asks; who asks waits for `patience` at most.

#pragma once

#include "base/clock.hpp"

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mend::jobs {

/// Where this process's own socket is, or would be. Makes the folder. Throws EnvironmentError if that is somebody
/// else's, or others can enter it. Local.
std::filesystem::path socket_folder();

/// The jobs of this user whose sockets are on this machine; also some that have ended. Local.
std::vector<pid_t> known_jobs();

/// In `mend run`.
class JobSocket {
 public:
  /// What is answered to a question.
  using Answer = std::function<std::string(const std::string& question)>;

  /// Listens for questions to job `job`. Throws EnvironmentError.
  JobSocket(pid_t job, Answer answer);
  ~JobSocket();
  JobSocket(const JobSocket&) = delete;
  JobSocket& operator=(const JobSocket&) = delete;

  /// Answers whoever has asked. Never waits. Local; called again and again.
  void poll();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// The answer of job `job`. Throws UsageError if no such job of this user runs here, EnvironmentError if it does not
/// answer within `patience`. Local.
std::string ask(pid_t job, const std::string& question, Seconds patience = Seconds{3});

}  // namespace mend::jobs
