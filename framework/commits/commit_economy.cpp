#include "framework/commits/commit_economy.hpp"

#include "framework/commits/commit_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mend {
namespace {

/// Returns the time in ms, s or h, whichever fits.
std::string text_of(Seconds time) {
  if (time < Seconds{1}) return fmt::format("{:.3g} ms", time.count() * 1e3);
  if (time < std::chrono::minutes(10)) return fmt::format("{:.3g} s", time.count());
  return fmt::format("{:.3g} h", time.count() / 3600);
}

std::string text_of(const Mtbf& mtbf, std::uint64_t failures) {
  switch (mtbf.from) {
    case MtbfFrom::given: return fmt::format("{} between failures (given)", text_of(mtbf.time));
    case MtbfFrom::observed: return fmt::format("{} between failures ({} observed)", text_of(mtbf.time), failures);
    case MtbfFrom::assumed: break;
  }
  return fmt::format("{} between failures (assumed: --mend-mtbf)", text_of(mtbf.time));
}

}  // namespace

Mtbf mtbf_of(std::optional<Seconds> given, Seconds run_time, std::uint64_t failures) {
  if (given) return {*given, MtbfFrom::given};
  if (failures > 0 && run_time > Seconds{0}) return {run_time / static_cast<double>(failures), MtbfFrom::observed};
  return {};
}

Seconds CommitEconomy::cost() const { return commit_time / static_cast<double>(std::max<std::uint64_t>(commits, 1)); }

Seconds CommitEconomy::interval() const {
  const Seconds between = run_time - commit_time;
  return std::max(between / static_cast<double>(std::max<std::uint64_t>(commits, 1)), Seconds{1e-9});
}

double CommitEconomy::overhead(Seconds between) const { return cost() / between + (between / 2 + cost()) / mtbf.time; }

std::string CommitEconomy::to_string() const {
  if (commits == 0) return "";
  const Seconds best = std::max(daly_interval(cost(), mtbf.time), Seconds{1e-9});
  const double now = overhead(interval());
  const double then = overhead(best);
  const std::string saving = now > then
                                 ? fmt::format("it would have saved {} of {}",
                                               text_of((run_time - commit_time) * (now - then)), text_of(run_time))
                                 : std::string("there was nothing to save");
  return fmt::format(
      "{} commits of {}, one every {}: they and what failures cost take {:.3g} % on top of the computation; with {}, "
      "the best "
      "interval is {} by Daly ({} by Young), {:.2g} %: {}",
      commits, text_of(cost()), text_of(interval()), 100 * now, text_of(mtbf, failures), text_of(best),
      text_of(young_interval(cost(), mtbf.time)), 100 * then, saving);
}

}  // namespace mend
