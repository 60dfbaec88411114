// Notices that ranks wait for others in mend's calls, and finds out who waits where. The core of one process; pure.
//
//   rank 1   waits for longer than the limit      --report-->    coordinator: the lowest living process
//   coordinator                                   --question-->  everybody
//   everybody                                     --answer-->    coordinator, which says the line
//
// A control thread answers whatever the application's thread does, so the line can be said while a rank computes, is
// blocked in an MPI call of the application, or catches what it should let pass. Of such a rank it is known only that
// it is in the body. A rank that has met a failure, and does not come to the recovery, is counted among those that
// wait: all may be such. One that has not met it yet, because it computes, is not. A wait is reported again whenever it
// has doubled, and the coordinator says a line only about a new wait, or one that is half as long again: so a long wait
// costs few messages and few lines.
//
// Ranks that wait for each other in the application's own MPI calls wait in no call of mend. So a rank reports as well
// when it has not moved for six times the limit: it has called nothing of mend, and no MPI call of its has begun or
// ended. If that is so of all ranks, the coordinator says in which MPI calls they are. It may be that all compute, so
// it is said once, and again only of a stretch that is twice as long as the last that was told.
//
// When the longest wait passes the other limit, or all ranks are in blocking MPI calls for so long, the job ends. It
// may be the lower of the two limits: then nothing is told before.
//
//   coordinator   says why              --stacks-->  everybody shows its stack
//   everybody                           --done-->    coordinator
//   coordinator   when all have, or     --leave-->   everybody ends with ExitCode::failed
//                 most_time_for_stacks has passed

#pragma once

#include "base/process_set.hpp"
#include "detector/message.hpp"
#include "detector/stall/stall_message.hpp"
#include "detector/stall/stall_report.hpp"

#include <optional>
#include <string>
#include <vector>

namespace mend::detector {

/// How long ranks may wait. Zero: for ever.
struct StallLimits {
  Time told{0};   ///< until it is told
  Time ended{0};  ///< until the job ends
};

/// What the owner of a StallWatch is to do.
struct StallActions {
  struct Send {
    ProcessId to;
    StallMessage message;
  };
  std::vector<Send> sends;
  std::string warning;      ///< for the user, unless empty
  std::string last_words;   ///< the same, when the job ends because of it
  bool show_stack = false;  ///< call stack_shown() when that is done; nobody is to be held dead for silence any more
  bool leave = false;       ///< end this process
};

class StallWatch {
 public:
  static constexpr Time patience = std::chrono::seconds(2);  ///< for answers
  static constexpr int quiet_factor = 6;  ///< a job in which nothing moves is told after so many times the limit
  static constexpr Time most_time_for_stacks = std::chrono::seconds(3);

  StallWatch(ProcessId self, const StallLimits& limits) : self_(self), limits_(limits) {}

  /// These live, of those who take part.
  void enter(ProcessSet members);
  void died(const ProcessSet& gone);

  /// `own`: where this process is.
  void tick(Time now, const Whereabouts& own, StallActions& actions);
  void receive(ProcessId from, const StallMessage& message, Time now, const Whereabouts& own, StallActions& actions);
  void stack_shown(StallActions& actions);

  /// When tick() is to be called again.
  Time next_deadline() const;

 private:
  /// A question to all that is not answered by all yet.
  struct Inquiry {
    Answers answers;
    Time deadline;
  };
  enum class Ending { no, shows_stacks, leaves };

  ProcessId coordinator() const { return members_.runs().front().first; }
  bool is_off() const { return limits_.told == Time{0} && limits_.ended == Time{0}; }
  Time first_report_after(Time waited) const;
  Time first_quiet_report_after(Time waited) const;
  void report_own_wait(Time now, const Whereabouts& own, StallActions& actions);
  void ask_everybody(Time now, const Whereabouts& own, StallActions& actions);
  void conclude(Time now, StallActions& actions);
  void conclude_quiet(const Answers& answers, Time now, StallActions& actions);
  void begin_end(Time now, StallActions& actions);
  void go_on_ending(Time now, StallActions& actions);
  void send_all(StallMessage::Kind kind, StallActions& actions) const;

  ProcessId self_;
  StallLimits limits_;
  ProcessSet members_;
  ProcessSet dead_;  // since this epoch began
  Time ticked_{0};

  std::uint64_t visit_ = 0;  // that the next is about
  Time report_after_{0};

  // Of the coordinator.
  std::uint32_t round_ = 0;
  std::optional<Time> ask_at_;
  Time asked_at_{0};
  std::optional<Inquiry> inquiry_;
  std::optional<LongestWait> told_;
  Time told_quiet_{0};  // the longest that was told

  Ending ending_ = Ending::no;
  ProcessId ended_by_;
  ProcessSet done_;
  Time end_deadline_{0};
};

}  // namespace mend::detector
