// The earliest sign of a process's end that other processes of its machine can have.
//
// A killed process keeps its connections until the kernel has taken its memory down, which takes milliseconds. Before
// that, the kernel goes through the locks that each thread has registered as held (robust futexes, get_robust_list(2)):
// it marks their words, and wakes whoever waits. Each process has such a word, in memory that the others of its machine
// map, and a thread that holds it and does nothing but wait for the word of another.
//
// Where the kernel cannot wait for two words at once (before Linux 5.16) there are no lifelines: an end is then noticed
// a little later.

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

/// The word of another process of this machine, as this one sees it.
class NeighbourLifeline {
 public:
  /// The lifeline that process `pid` has as `descriptor`; null where there is none, or it may not be looked at. That
  /// the process is the one that is meant has to be made sure of afterwards.
  static std::shared_ptr<const NeighbourLifeline> open(pid_t pid, int descriptor);
  ~NeighbourLifeline();
  NeighbourLifeline(const NeighbourLifeline&) = delete;
  NeighbourLifeline& operator=(const NeighbourLifeline&) = delete;

  const LifelineWord& word() const { return *word_; }

 private:
  explicit NeighbourLifeline(const LifelineWord* word) : word_(word) {}

  const LifelineWord* word_;
};

/// This process's own word, and the thread that holds it and looks at another's.
class Lifeline {
 public:
  static constexpr int none = -1;

  /// `ended` is called by the thread, once for each process that it is looking at when that begins to end.
  explicit Lifeline(std::function<void(ProcessId)> ended);
  /// Lets go: that is no sign of an end.
  ~Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

  /// By which the others of this machine find it in this process; none where there are no lifelines.
  int descriptor() const { return descriptor_; }

  /// Looks at `process` from now on, and at nobody else; at nobody when `line` is null. Any thread; returns at once.
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
