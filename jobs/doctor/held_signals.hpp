// Signals that ask a command to end, together with the program that it has started.

#pragma once

#include <csignal>
#include <cstddef>
#include <optional>
#include <vector>

namespace mend::jobs {

/// Thrown by run_program() when one of the held signals has come; its program has ended.
struct Interrupted {
  int signal;
};

/// During its lifetime, SIGHUP, SIGINT and SIGTERM take effect only in run_program(), which throws Interrupted then. So
/// folders are removed before the process ends. One at a time, in the main thread.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Returns the signal that has come; nothing if none has come, or none is held.
  static std::optional<int> come();
  /// Returns the signals that the process had blocked before; null if none is held. For ppoll(), and for programs that
  /// the process starts.
  static const sigset_t* before();

 private:
  std::vector<struct sigaction> actions_;
};

}  // namespace mend::jobs
