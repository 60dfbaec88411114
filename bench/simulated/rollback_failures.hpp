// A job that loses nodes, event by event, under two kinds of rollback. The cost of the failures is counted.
//
// The job works for an interval, commits, and goes on. A node dies at an exponentially distributed time, in any
// activity of the job, and is replaced at once by a spare. Each death begins a recovery. If it happens during a commit,
// that commit is void and is made again.
//
//   global   all ranks go back to the last commit and compute again what they had
//   local    only the ranks of the node go back. The others stop where they are and wait, because each soon needs a
//            message from the dead ranks (the job is tightly coupled). A node that dies meanwhile begins its own
//            recovery. Nodes that go back need each other's messages, which died with them, so none gets ahead of
//            the slowest.
//
// Invariants: a rank that did not go back never computes a piece twice; work counts as done only after a commit.

#pragma once

#include "base/clock.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>

namespace mend::bench {

struct FailingJob {
  std::uint32_t nodes = 1;
  std::uint32_t ranks_per_node = 1;
  Seconds node_mtbf{};
  Seconds work{};
  Seconds interval{};  ///< of work, between two commits
  Seconds commit_cost{};
  Seconds recovery{};       ///< from a death until ranks compute again
  double logging = 0;       ///< local rollback: the share by which logging slows the work down
  double replay_speed = 1;  ///< local rollback: how much faster a rank computes again than the first time
};

enum class Rollback : std::uint8_t { global, local };

/// The cost of a job. Rank times are summed over all ranks.
struct JobCost {
  Seconds time{};
  Seconds computing{};       ///< rank time, commits included
  Seconds computed_again{};  ///< rank time, a part of `computing`
  Seconds waiting{};         ///< rank time
  std::uint64_t failures = 0;
};

class FailingJobRun {
 public:
  FailingJobRun(const FailingJob& job, Rollback rollback, std::uint64_t seed)
      : job_(job), rollback_(rollback), random_(seed), next_death_(wait_for_death()) {}

  JobCost run() {
    for (Seconds done{}; done < job_.work; done += job_.interval) {
      const Seconds piece = std::min(job_.interval, job_.work - done) * slowdown();
      work_to(piece);
      while (!all_busy_for(job_.commit_cost)) recover(piece);
    }
    return cost_;
  }

 private:
  double ranks() const { return static_cast<double>(job_.nodes) * job_.ranks_per_node; }
  double slowdown() const { return rollback_ == Rollback::local ? 1 + job_.logging : 1; }
  double speed() const { return rollback_ == Rollback::local ? job_.replay_speed : 1; }

  /// Inverts the distribution, so that the draws are the same with every library.
  Seconds wait_for_death() {
    const double drawn = (static_cast<double>(random_() >> 11U) + 0.5) * 0x1p-53;
    return job_.node_mtbf / job_.nodes * -std::log(drawn);
  }

  /// The dead node is drawn too. Deaths come at the same times under both kinds of rollback.
  std::uint32_t death() {
    ++cost_.failures;
    next_death_ = cost_.time + wait_for_death();
    return static_cast<std::uint32_t>(random_() % job_.nodes);
  }

  /// Passes until `duration` is over, or until the next death. Returns the time passed.
  Seconds pass(Seconds duration, double busy_ranks) {
    const Seconds passed = std::clamp(next_death_ - cost_.time, Seconds{0}, duration);
    cost_.time += passed;
    cost_.computing += passed * busy_ranks;
    cost_.waiting += passed * (ranks() - busy_ranks);
    return passed;
  }

  /// Returns false if a node dies before the end; that death has not been handled yet.
  bool all_busy_for(Seconds duration) { return pass(duration, ranks()) >= duration; }

  void work_to(Seconds piece) {
    Seconds reached{};
    while (reached < piece) {
      const Seconds left = piece - reached;
      const Seconds passed = pass(left, ranks());
      reached = passed >= left ? piece : reached + passed;
      if (reached < piece) recover(reached);
    }
  }

  /// Runs from a death until all ranks are where the first of them was: `reached` after the last commit.
  void recover(Seconds reached) {
    if (rollback_ == Rollback::global) {
      recover_all(reached);
    } else {
      recover_some(reached);
    }
  }

  void recover_all(Seconds reached) {
    while (true) {
      death();
      if (pass(job_.recovery, 0) < job_.recovery) continue;
      const Seconds passed = pass(reached, ranks());
      cost_.computed_again += passed * ranks();
      if (passed >= reached) return;
    }
  }

  /// A node that went back: when it computes again, and its progress.
  struct Back {
    Seconds ready;
    Seconds at;
  };

  void recover_some(Seconds reached) {
    std::map<std::uint32_t, Back> back;
    back[death()] = {cost_.time + job_.recovery, Seconds{0}};
    while (true) {
      // The slowest nodes compute; those ahead of them wait for their messages.
      Seconds slowest = reached;
      Seconds ahead = reached;
      for (const auto& [node, one] : back) slowest = std::min(slowest, one.at);
      Seconds ready{};
      double computing = 0;
      for (const auto& [node, one] : back) {
        if (one.at > slowest) {
          ahead = std::min(ahead, one.at);
        } else {
          ready = std::max(ready, one.ready);
          computing += job_.ranks_per_node;
        }
      }
      if (slowest >= reached) return;
      const Seconds recovering = ready - cost_.time;
      if (recovering > Seconds{0} && pass(recovering, 0) < recovering) {
        back[death()] = {cost_.time + job_.recovery, Seconds{0}};
        continue;
      }
      const Seconds needed = (ahead - slowest) / speed();
      const Seconds passed = pass(needed, computing);
      cost_.computed_again += passed * computing;
      const Seconds at = passed >= needed ? ahead : slowest + passed * speed();
      for (auto& [node, one] : back) {
        if (one.at == slowest) one.at = at;
      }
      if (passed < needed) back[death()] = {cost_.time + job_.recovery, Seconds{0}};
    }
  }

  FailingJob job_;
  Rollback rollback_;
  std::mt19937_64 random_;
  Seconds next_death_;
  JobCost cost_;
};

}  // namespace mend::bench
