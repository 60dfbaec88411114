// Programs that run until they are asked to leave, and continue from disk in the next launch.

#include "tests/framework/subject/subject.hpp"

#include "base/fault_point.hpp"
#include "base/telemetry/job_board.hpp"

#include <fmt/format.h>

#include <string>

namespace subject {
namespace {

/// Rank 1 dies when the first commit at which the job was asked reaches its commit point.
void die_when_asked(const mend::Session& session) {
  if (!is_first(session, 1)) return;
  mend::on_fault_point([](std::string_view point) {
    if (point == "commit.vote" && mend::board::requests().leave != 0) die();
  });
}

}  // namespace

mend::Body run_until_asked(std::string_view what) {
  return [what = std::string(what)](mend::Session& session) {
    if (what == "asks_and_dies") die_when_asked(session);
    long step = 0;
    long total = 0;
    session.store().protect("step", mend::replicated(step));
    session.store().protect("total", mend::replicated(total));
    const long from = static_cast<long>(session.store().restore().value);
    const bool asks = what.starts_with("asks");
    const bool ends = what == "ends";  // in the launch that continues
    const bool commits = what != "never_commits";
    for (const long begin = step; !ends || step < begin + 5;) {
      long sum = 0;
      const long one = session.rank().value == 0 ? 1 : 0;
      MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, session.comm());
      total += sum;
      ++step;
      if (step == begin + 3 && session.epoch() == mend::Epoch{0}) say(session, "goes");
      if (session.commit_due() && commits) session.store().commit();
      if (!asks || !session.should_exit()) continue;
      if (what == "asks_and_dies_when_told" && is_first(session, 1)) die();
      break;
    }
    say(session, fmt::format("has {} of {} steps, from version {}, in epoch {}", total, step, from != 0 ? "N" : "0",
                             session.epoch().value));
    say(session, fmt::format("left at version {}", session.store().version().value));
  };
}

}  // namespace subject
