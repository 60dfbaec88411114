// Kills or stops processes on request, to show that a run survives kill -9 and processes that hang.
//
// An order names the process, the step, and the place in the step: 2@20 kills the process that holds rank 2 at the
// start of step 20; 2@20:halo kills it while that step's halo messages are under way; p4@0:recovery kills the fifth
// process launched when it first takes part in a recovery. A process obeys by sending itself SIGKILL: no handler runs,
// no buffer is flushed, no other process is told.

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
  bool hangs = false;          ///< stops (SIGSTOP) instead of dying: no process is told, and its connections stay

  bool operator==(const KillOrder&) const = default;
};

/// Reads RANK@STEP[:POINT]. RANK may also be pN: the process launched as number N, with any rank or none. Throws
/// mend::UsageError, in one sentence, for any other text.
KillOrder parse_kill_order(std::string_view text);

/// Returns true if an order for `wanted` applies to the place `point`: "commit" applies to "commit.pack" too.
bool matches_point(std::string_view wanted, std::string_view point);

/// Throws mend::UsageError, in one sentence, for an order that can never be obeyed: the place is neither one of mend's
/// nor one of `places`, the step is after `last_step`, or the rank or process does not exist, as far as the
/// launch tells their number, unless `more_may_come`. `spares` of the launched processes have no rank.
void check_kill_order(const KillOrder& order, std::span<const std::string> places, long last_step, int spares,
                      bool more_may_come = false);

/// Returns the file that records the orders obeyed in a run with this result file: FILE.kills; empty without a result.
std::filesystem::path kill_record(const std::filesystem::path& result);

/// Carries out the kill orders in this process. Create it in main before mend::run. It is called at every place that
/// mend or the application announces with mend::reach.
///
/// The first order that names a rank is for the first process that holds it, the second for the second process, and so
/// on. So a replacement does not obey its predecessor's order.
class KillSwitch {
 public:
  /// `record`: the file that gets one JSON line for each process that obeys, written just before it dies; empty: none.
  /// The first process launched removes the lines of earlier jobs from it.
  KillSwitch(std::vector<KillOrder> orders, std::filesystem::path record);
  ~KillSwitch();
  KillSwitch(const KillSwitch&) = delete;
  KillSwitch& operator=(const KillSwitch&) = delete;

  /// Sets the rank that this process holds now; orders for that rank count from here on. Local.
  void play(const mend::Session& session) { play(session.origin(), session.predecessors()); }
  void play(mend::Rank rank, int predecessors);

  /// Begins step `number`, and announces the point "step". Orders take effect in their step or later. A process that
  /// has not begun any step (a spare, or a newcomer that is still restoring) obeys whatever the step is. Local.
  void step(long number);

  /// Announces a point; mend::reach(point) does the same for code that does not know the switch. Does not return if an
  /// order to die is due. Local.
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
  bool hung_ = false;  // it has stopped and was continued: it obeys no further order
};

}  // namespace apps
