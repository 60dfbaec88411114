// Notices ranks that wait for others in mend's calls, and finds out which rank waits where. The core of one process;
// pure.
//
//   rank 1   waits for longer than the limit      --report-->    coordinator: the lowest living process
//   coordinator                                   --question-->  all processes
//   all processes                                 --answer-->    coordinator, which prints the line
//
// A control thread answers independently of what the application's thread does. So the line can be printed while a rank
// computes, is blocked in an MPI call of the application, or catches an exception that it should let pass. For a rank
// in these states, it is known only that the rank is in the body. A rank that has met a failure, and does not come to
// the recovery, counts as waiting, because all ranks may be in this state. A rank that has not met the failure yet,
// because it computes, does not count as waiting. A wait is reported again whenever it has doubled, and the coordinator
// prints a line only about a new wait, or about one that has grown by half. So a long wait costs few messages and few
// lines.
//
// Ranks that wait for each other in the application's own MPI calls are in no call of mend. So a rank also reports if
// it has not moved for six times the limit: it has not called mend, no blocking MPI call of it has begun or ended, and
// no poll of it has completed a request or matched a message (base/telemetry/activity.hpp). If that is true of all
// ranks, the coordinator prints which MPI calls they are in. All ranks may be computing, so the line is printed once,
// and again only for a time twice as long as the last one printed.
//
// When the longest wait passes the other limit, or all ranks are in blocking MPI calls for that long, the job ends.
// This limit may be the lower one of the two: then nothing is printed before.
//
// A process may also be stuck: it waits in the MPI library on behalf of mend for something that has happened
// (detector/stall/stuck_process.hpp). It reports when nothing has moved in that call for the third limit. The
// coordinator asks all processes, and declares a stuck process dead. So the others recover without it. If instead all
// ranks wait in vain because one has rolled back locally, the coordinator tells one of them to make all roll back.
//
//   coordinator   prints why            --stacks-->  all processes print their stacks
//   all processes                       --done-->    coordinator
//   coordinator   when all have, or     --leave-->   all processes end with ExitCode::failed
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

/// The time that ranks may wait. Zero means for ever.
struct StallLimits {
  Time told{0};   ///< until it is reported
  Time ended{0};  ///< until the job ends
  Time stuck{0};  ///< in a call of the MPI library, until a process is declared dead
};

/// The actions of the owner of a StallWatch.
struct StallActions {
  struct Send {
    ProcessId to;
    StallMessage message;
  };
  std::vector<Send> sends;
  std::string warning;       ///< for the user, unless empty
  std::string end_sentence;  ///< why the job ends, for the user; empty: it does not end
  bool show_stack = false;   ///< print the stack, then call stack_shown(); declare no process dead for silence any more
  bool leave = false;        ///< end this process
  std::optional<ProcessId> stuck;  ///< declare this process dead
  bool go_back = false;            ///< make all ranks roll back, by interrupting this one
};

class StallWatch {
 public:
  static constexpr Time patience = std::chrono::seconds(2);  ///< for answers
  static constexpr int quiet_factor = 6;  ///< if nothing moves, it is reported after this many times the limit
  static constexpr Time most_time_for_stacks = std::chrono::seconds(3);

  StallWatch(ProcessId self, const StallLimits& limits) : self_(self), limits_(limits) {}

  /// Begins an epoch with these living members.
  void enter(ProcessSet members);
  void died(const ProcessSet& gone);

  /// `own`: the place of this process.
  void tick(Time now, const Whereabouts& own, StallActions& actions);
  void receive(ProcessId from, const StallMessage& message, Time now, const Whereabouts& own, StallActions& actions);
  void stack_shown(StallActions& actions);

  /// Returns when tick() is to be called again.
  Time next_deadline() const;

 private:
  /// A question to all processes that some have not answered yet.
  struct Inquiry {
    Answers answers;
    Time deadline;
  };
  enum class Ending { no, shows_stacks, leaves };

  ProcessId coordinator() const { return members_.runs().front().first; }
  bool is_off() const { return limits_.told == Time{0} && limits_.ended == Time{0} && limits_.stuck == Time{0}; }
  Time first_report_after(Time waited) const;
  Time shortest_limit() const;
  Time first_quiet_report_after(Time waited) const;
  bool has_to_report(const Whereabouts& own);
  void report_own_wait(Time now, const Whereabouts& own, StallActions& actions);
  void ask_everybody(Time now, const Whereabouts& own, StallActions& actions);
  void conclude(Time now, StallActions& actions);
  bool strike(const Answers& answers, StallActions& actions);
  bool send_back(const Answers& answers, StallActions& actions) const;
  void conclude_quiet(const Answers& answers, Time now, StallActions& actions);
  void begin_end(Time now, StallActions& actions);
  void go_on_ending(Time now, StallActions& actions);
  void send_all(StallMessage::Kind kind, StallActions& actions) const;

  ProcessId self_;
  StallLimits limits_;
  ProcessSet members_;
  ProcessSet dead_;  // since this epoch began
  Time ticked_{0};

  std::uint64_t visit_ = 0;  // the visit that the next report is about
  Time report_after_{0};
  Time report_stuck_after_{0};

  // Used by the coordinator.
  std::uint32_t round_ = 0;
  std::optional<Time> ask_at_;
  Time asked_at_{0};
  std::optional<Inquiry> inquiry_;
  std::optional<LongestWait> told_;
  Time told_quiet_{0};  // the longest time that was reported
  ProcessSet struck_;   // in this epoch

  Ending ending_ = Ending::no;
  ProcessId ended_by_;
  ProcessSet done_;
  Time end_deadline_{0};
};

}  // namespace mend::detector
