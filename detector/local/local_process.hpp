// Another process of this machine, as the kernel sees it: whether it has ended, and how.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace mend::detector {

/// Distinguishes a process from any other that ever runs on this machine: its number, and the time of its start.
struct LocalIdentity {
  pid_t pid = 0;
  std::uint64_t started = 0;  ///< clock ticks since the boot of the machine; field 22 of /proc/PID/stat
  std::uint64_t space = 0;    ///< the PID namespace of `pid`, by its inode

  /// Returns this process's own identity. Throws EnvironmentError if there is no /proc.
  static LocalIdentity self();
  /// Returns the identity of the process that this one sees as number `pid`; nothing if there is none.
  static std::optional<LocalIdentity> of(pid_t pid);

  /// Returns true if this process can see that one while it lives: both are in the same PID namespace.
  bool can_be_seen() const;

  bool operator==(const LocalIdentity&) const = default;
};

/// Returns true if the main thread of this process sleeps now, as in nanosleep(2). Any thread. Local.
bool own_main_thread_sleeps();

/// Returns true if a thread of this process other than the main thread and the calling one computes now, or could if it
/// had a processor. Any thread. Local.
bool other_own_threads_compute();

class LocalProcess {
 public:
  /// Returns nothing if this process sees no living process of that identity: it has ended, or is in another PID
  /// namespace.
  static std::optional<LocalProcess> find(const LocalIdentity& identity);
  ~LocalProcess();
  LocalProcess(LocalProcess&& other) noexcept;
  LocalProcess& operator=(LocalProcess&&) = delete;

  /// Returns true if it has ended, or if the kernel is tearing it down.
  bool is_gone() const;

  /// Returns true if the thread of this name could run but has no processor, because the machine is overloaded.
  bool is_kept_waiting(std::string_view thread) const;

  /// Returns true if it lives and runs another program than when it was found, because it has called exec. Returns
  /// false if that cannot be seen.
  bool runs_another_program() const;

  /// Returns how it has ended, as wait(2) reports it, once the kernel has reported it to its parent. Returns nothing
  /// before that, and always if the kernel reports it to the parent alone (before Linux 6.15).
  std::optional<int> exit_status() const;

  /// Sends it SIGKILL, which takes effect even if it is stopped. Never hits another process.
  void kill() const;

 private:
  LocalProcess(const LocalIdentity& identity, int pidfd);

  LocalIdentity identity_;
  int pidfd_ = -1;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> program_;  ///< its file: device and number
};

}  // namespace mend::detector
