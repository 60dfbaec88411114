// Dying on request, or hanging: how a run shows that it survives kill -9, and processes that do nothing any more.
//
// An order names who dies, at which step, and where in it: 2@20 kills whoever plays rank 2 at the start of step 20,
// 2@20:halo while that step's halo messages are under way, p4@0:recovery the fifth process launched when it first
// takes part in a recovery. A process obeys by sending itself SIGKILL: no handler runs, no buffer is flushed, nobody
// is told.

#pragma once

#include "base/ids.hpp"
#include "framework/session.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace apps {

struct KillOrder {
  std::variant<mend::Rank, mend::ProcessId> who;
  long step = 0;
  std::string point = "step";  ///< matches a point of this name, and any whose name begins with it and a dot
  bool hangs = false;          ///< stops (SIGSTOP) instead of dying: nobody is told, and nothing of it is gone

  bool operator==(const KillOrder&) const = default;
};

/// Reads RANK@STEP[:POINT], where RANK may also be pN: the process launched as number N, whichever rank it plays or
/// none. Throws mend::UsageError, in one sentence, on anything else.
KillOrder parse_kill_order(std::string_view text);

/// Whether an order for `wanted` means the place called `point`: "commit" means "commit.pack" too.
bool matches_point(std::string_view wanted, std::string_view point);

/// Throws mend::UsageError, in one sentence, for an order that can never be obeyed: at a place that is none of mend's
/// nor one of `places`, after the last of `steps`, or, as far as the launch tells how many there are, for a rank or
/// process that does not exist, unless `more_may_come`. `spares` of the processes launched play no rank.
void check_kill_order(const KillOrder& order, std::span<const std::string> places, long steps, int spares,
                      bool more_may_come = false);

/// Where the orders obeyed in a run with this result file are recorded: FILE.kills, or nowhere without a result.
std::filesystem::path kill_record(const std::filesystem::path& result);

/// Carries out the kill orders in this process. Created in main before mend::run, it hears of every place that mend
/// or the application announces with mend::reach.
///
/// The first order that names a rank is for the first process that plays it, the second for the second, and so on:
/// a replacement does not die of its predecessor's order.
class KillSwitch {
 public:
  /// `record`: the file that gets one JSON line for each process that obeys, appended just before it dies; empty:
  /// none. The first process launched takes the lines of earlier jobs out of it.
  KillSwitch(std::vector<KillOrder> orders, std::filesystem::path record);
  ~KillSwitch();
  KillSwitch(const KillSwitch&) = delete;
  KillSwitch& operator=(const KillSwitch&) = delete;

  /// Says which rank this process plays now; orders for that rank count from here on. Local.
  void play(const mend::Session& session) { play(session.origin(), session.predecessors()); }
  void play(mend::Rank rank, int predecessors);

  /// Begins step `number`, and announces the point "step". Orders fire in their step or later; a process that has
  /// not begun any step (a spare, a newcomer that is still restoring) obeys whatever the step. Local.
  void step(long number);

  /// Announces a point; mend::reach(point) does the same for code that does not know the switch. Does not return if
  /// an order to die is due. Local.
  void at(std::string_view point);

 private:
  bool concerns_me(const KillOrder& order) const;
  void obey(const KillOrder& order, std::string_view point);

  std::vector<KillOrder> orders_;
  std::filesystem::path record_;
  std::optional<mend::ProcessId> self_;
  std::optional<mend::Rank> rank_;
  int predecessors_ = 0;
  std::optional<long> step_;
  bool hung_ = false;  // and was continued: that was it
};

}  // namespace apps
