#include "framework/recovery/job_decision.hpp"

#include <algorithm>
#include <bit>

namespace mend {
namespace {

// The agreement is a bitwise and, so each wish is a bit that is cleared if any process has it. Each exit code has its
// own bit, so that two codes do not combine to a third.
constexpr std::uint32_t nobody_abandons = 1U << 0;
constexpr std::uint32_t nobody_recovers = 1U << 1;
constexpr std::uint32_t nobody_finishes = 1U << 2;
constexpr std::uint32_t nobody_progressed = 1U << 3;
constexpr std::uint32_t nobody_despairs = 1U << 4;
constexpr std::uint32_t nobody_asks = 1U << 5;
constexpr std::uint32_t nobody_committed_twice = 1U << 6;
constexpr std::uint32_t code_shift = 8;
constexpr std::uint32_t code_mask = 0xffU << code_shift;
constexpr std::uint32_t writes_shift = 16;
constexpr std::uint32_t nobody_knows_writes = 0x7fff;  // an agreement carries 31 bits
constexpr std::uint32_t writes_mask = nobody_knows_writes << writes_shift;
constexpr std::uint32_t indifferent = nobody_abandons | nobody_recovers | nobody_finishes | nobody_progressed |
                                      nobody_despairs | nobody_asks | nobody_committed_twice | code_mask | writes_mask;

std::uint32_t contribution(Intent intent, ExitCode code) {
  const std::uint32_t bit_of_code = 1U << (code_shift + static_cast<std::uint32_t>(code));
  switch (intent) {
    case Intent::finish: return indifferent & ~nobody_finishes;
    case Intent::recover: return indifferent & ~nobody_recovers;
    case Intent::abandon: return indifferent & ~nobody_abandons & ~bit_of_code;
    case Intent::follow: break;
  }
  return indifferent;
}

/// Sets all bits for a process that does not know the number. A number that is too large is contributed as a smaller
/// one: then requests are carried out again, and none is lost.
std::uint32_t contribution_of_writes(std::optional<std::uint32_t> done) {
  const std::uint32_t number = done ? std::min(*done, nobody_knows_writes - 1) : nobody_knows_writes;
  return number << writes_shift;
}

std::uint32_t writes_in(std::uint32_t value) {
  const std::uint32_t done = (value & writes_mask) >> writes_shift;
  return done == nobody_knows_writes ? 0 : done;
}

/// Returns the highest exit code that any process has contributed.
ExitCode code_in(std::uint32_t value) {
  const std::uint32_t codes = (~value & code_mask) >> code_shift;
  return codes == 0 ? ExitCode::ok : static_cast<ExitCode>(std::bit_width(codes) - 1);
}

}  // namespace

JobDecision decide_job(agreement::Agreement& everyone, Intent intent, ExitCode code, bool progressed, bool in_vain,
                       bool asked, bool committed_twice, std::optional<std::uint32_t> writes_done) {
  const std::uint32_t mine = contribution(intent, code) & ~(progressed ? nobody_progressed : 0) &
                             ~(in_vain ? nobody_despairs : 0) & ~(asked ? nobody_asks : 0) &
                             ~(committed_twice ? nobody_committed_twice : 0) &
                             (~writes_mask | contribution_of_writes(writes_done));
  const std::uint32_t value = everyone.agree(mine).value;
  JobDecision decision;
  decision.progressed = !(value & nobody_progressed);
  decision.in_vain = !decision.progressed && !(value & nobody_despairs);
  decision.asked = !(value & nobody_asks);
  decision.committed_twice = !(value & nobody_committed_twice);
  decision.writes_done = writes_in(value);
  if (!(value & nobody_abandons)) {
    decision.what = Intent::abandon;
    decision.code = code_in(value);
    if (decision.code == ExitCode::ok)
      decision.code = ExitCode::failed;  // the process that knew the code has died, or no
                                         // process knew it
  } else if ((value & nobody_recovers) && !(value & nobody_finishes)) {
    decision.what = Intent::finish;
  }
  return decision;
}

}  // namespace mend
