// The earliest sign of a process's end that other processes of its machine can get.
//
// A killed process keeps its connections until the kernel has torn down its memory, which takes milliseconds. Before
// that, the kernel goes through the locks that each thread has registered as held (robust futexes, get_robust_list(2)),
// marks their words, and wakes the waiters. Each process has a word of this kind, in memory that the other processes of
// its machine map, and a thread that holds it and only waits for the word of another process.
//
// If the kernel cannot wait for two words at once (before Linux 5.16) there are no lifelines. The end of a process is
// then noticed a little later.

#pragma once

#include "base/ids.hpp"

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace mend::detector {

using LifelineWord = std::atomic<std::uint32_t>;
static_assert(LifelineWord::is_always_lock_free);

/// The word of another process of this machine, as this process sees it.
class NeighbourLifeline {
 public:
  /// Opens the lifeline that process `pid` has as `descriptor`. Returns null if there is none, or if access is denied.
  /// The caller must check afterwards that `pid` is still the intended process.
  static std::shared_ptr<const NeighbourLifeline> open(pid_t pid, int descriptor);
  ~NeighbourLifeline();
  NeighbourLifeline(const NeighbourLifeline&) = delete;
  NeighbourLifeline& operator=(const NeighbourLifeline&) = delete;

  const LifelineWord& word() const { return *word_; }

 private:
  explicit NeighbourLifeline(const LifelineWord* word) : word_(word) {}

  const LifelineWord* word_;
};

/// This process's own word, and the thread that holds it and looks at the word of another process.
class Lifeline {
 public:
  static constexpr int none = -1;

  /// `ended` is called by the thread, once for each process that it looks at when that process begins to end.
  explicit Lifeline(std::function<void(ProcessId)> ended);
  /// Releases the word. The other processes do not treat that as the end of this process.
  ~Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

  /// Returns the descriptor by which the other processes of this machine find the lifeline; `none` if there are no
  /// lifelines.
  int descriptor() const { return descriptor_; }

  /// Looks at `process` from now on, and at no other; at no process if `line` is null. Any thread; returns at once.
  void look_at(ProcessId process, std::shared_ptr<const NeighbourLifeline> line);

 private:
  struct Target {
    ProcessId process;
    std::shared_ptr<const NeighbourLifeline> line;
  };

  void run();
  Target target();
  void forget(const Target& seen);
  void ring_bell();

  std::function<void(ProcessId)> ended_;
  int descriptor_ = none;
  LifelineWord* word_ = nullptr;
  LifelineWord bell_{0};  // changes when the thread has something new to look at
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  Target target_;
  std::thread thread_;
};

}  // namespace mend::detector
