#include "apps/common/kill_switch.hpp"

#include "apps/common/launch.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/fault_point.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace apps {
namespace {

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || text.front() == '-') return std::nullopt;
  return number;
}

std::optional<std::variant<mend::Rank, mend::ProcessId>> parse_who(std::string_view text) {
  if (text.starts_with('p')) {
    const auto process = whole_number<std::uint32_t>(text.substr(1));
    if (!process) return std::nullopt;
    return mend::ProcessId{*process};
  }
  const auto rank = whole_number<int>(text);
  if (!rank) return std::nullopt;
  return mend::Rank{*rank};
}

}  // namespace

KillOrder parse_kill_order(std::string_view text) {
  const auto at = text.find('@');
  const auto colon = text.find(':');
  const bool has_point = colon != std::string_view::npos;
  if (at != std::string_view::npos && (!has_point || at < colon)) {
    const auto who = parse_who(text.substr(0, at));
    const auto step = whole_number<long>(text.substr(at + 1, has_point ? colon - at - 1 : text.npos));
    const std::string_view point = has_point ? text.substr(colon + 1) : "step";
    if (who && step && !point.empty()) return {*who, *step, std::string(point)};
  }
  throw mend::UsageError(fmt::format(
      "\"{}\" is no kill order: write RANK@STEP or RANK@STEP:POINT, such as 2@20 or 0@5:halo, and pN for the process "
      "launched as number N",
      text));
}

bool matches_point(std::string_view wanted, std::string_view point) {
  return point.starts_with(wanted) && (point.size() == wanted.size() || point[wanted.size()] == '.');
}

std::filesystem::path kill_record(const std::filesystem::path& result) {
  return result.empty() ? result : std::filesystem::path(result.native() + ".kills");
}

KillSwitch::KillSwitch(std::vector<KillOrder> orders, std::filesystem::path record)
    : orders_(std::move(orders)), record_(std::move(record)), self_(launched_as()) {
  if (!record_.empty() && speaks_for_all()) {
    // Before MPI_Init, which nobody leaves until all have entered it: nobody can have died yet.
    std::error_code ignored;
    std::filesystem::remove(record_, ignored);
  }
  if (!orders_.empty()) {
    mend::on_fault_point([this](std::string_view point) { at(point); });
  }
}

KillSwitch::~KillSwitch() {
  if (!orders_.empty()) mend::on_fault_point({});
}

void KillSwitch::play(mend::Rank rank, int predecessors) {
  rank_ = rank;
  predecessors_ = predecessors;
}

void KillSwitch::step(long number) {
  step_ = number;
  at("step");
}

void KillSwitch::at(std::string_view point) {
  for (const KillOrder& order : orders_) {
    const bool due = !step_ || *step_ >= order.step;
    if (due && matches_point(order.point, point) && concerns_me(order)) die(point);
  }
}

bool KillSwitch::concerns_me(const KillOrder& order) const {
  if (const auto* process = std::get_if<mend::ProcessId>(&order.who)) return self_ == *process;
  if (rank_ != std::get<mend::Rank>(order.who)) return false;
  const auto this_one = orders_.begin() + (&order - orders_.data());
  return std::count_if(orders_.begin(), this_one, [&](const KillOrder& earlier) { return earlier.who == order.who; }) ==
         predecessors_;
}

void KillSwitch::die(std::string_view point) const {
  if (!record_.empty()) {
    nlohmann::ordered_json line;
    line["rank"] = rank_ ? nlohmann::ordered_json(rank_->value) : nullptr;
    line["process"] = self_.value_or(mend::ProcessId{0}).value;
    line["step"] = step_ ? nlohmann::ordered_json(*step_) : nullptr;
    line["point"] = point;
    const auto now = mend::WallClock::now().time_since_epoch();
    line["time_us"] = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
    const std::string text = line.dump() + "\n";
    // One write to a file opened for appending: lines of processes that die at the same moment do not mix.
    if (const int file = ::open(record_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666); file >= 0) {
      [[maybe_unused]] const auto written = ::write(file, text.data(), text.size());
    }
  }
  std::raise(SIGKILL);
  std::abort();  // not reached; the compiler cannot know
}

}  // namespace apps
