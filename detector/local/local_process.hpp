// Another process of this machine, as the kernel sees it: whether it is gone, and its end.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace mend::detector {

/// What tells a process from any other that this machine ever runs: its number, and when it was started.
struct LocalIdentity {
  pid_t pid = 0;
  std::uint64_t started = 0;  ///< clock ticks since the machine was; field 22 of /proc/PID/stat
  std::uint64_t space = 0;    ///< in which `pid` is its number: the inode of its PID namespace

  /// This process's own. Throws EnvironmentError where there is no /proc.
  static LocalIdentity self();
  /// Of a process that this one sees as number `pid`; nothing when there is none.
  static std::optional<LocalIdentity> of(pid_t pid);

  /// Whether this process would see it, if it lived: both have the same numbers for processes.
  bool can_be_seen() const;

  bool operator==(const LocalIdentity&) const = default;
};

class LocalProcess {
 public:
  /// Nothing when this process sees no living process of that identity: it is gone, or lives in another PID namespace.
  static std::optional<LocalProcess> find(const LocalIdentity& identity);
  ~LocalProcess();
  LocalProcess(LocalProcess&& other) noexcept;
  LocalProcess& operator=(LocalProcess&&) = delete;

  /// Whether it has ended, or is beyond return: the kernel is taking it down.
  bool is_gone() const;

  /// Whether the thread of this name could run and is not let: the machine has too much to do.
  bool is_kept_waiting(std::string_view thread) const;

  /// How it has ended, as wait(2) has it: from when its parent has heard of it. Nothing before, and where the kernel
  /// does not tell others than the parent (before Linux 6.15).
  std::optional<int> exit_status() const;

  /// Sends it SIGKILL, which takes effect even if it is stopped. Never hits another process.
  void kill() const;

 private:
  LocalProcess(const LocalIdentity& identity, int pidfd) : identity_(identity), pidfd_(pidfd) {}

  LocalIdentity identity_;
  int pidfd_ = -1;
};

}  // namespace mend::detector
