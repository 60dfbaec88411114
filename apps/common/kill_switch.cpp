#include "apps/common/kill_switch.hpp"

#include "apps/common/launch.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "base/launch.hpp"
#include "base/telemetry/microseconds.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
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

/// The record file, opened for appending and locked against the other processes until it goes out of scope.
class LockedRecord {
 public:
  explicit LockedRecord(const std::filesystem::path& file)
      : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
    if (file_ >= 0) ::flock(file_, LOCK_EX);
  }
  ~LockedRecord() {
    if (file_ >= 0) ::close(file_);
  }
  LockedRecord(const LockedRecord&) = delete;
  LockedRecord& operator=(const LockedRecord&) = delete;

  void append(const std::string& text) const {
    [[maybe_unused]] const auto size = ::write(file_, text.data(), text.size());
  }
  void clear() const { [[maybe_unused]] const int result = ::ftruncate(file_, 0); }

 private:
  int file_;
};

bool tells_of_job(const std::string& line, const std::string& job) {
  const auto death = nlohmann::json::parse(line, nullptr, false);
  return !job.empty() && death.is_object() && death.value("job", "") == job;
}

/// Removes the lines of earlier jobs from the record. A process of this job may have died already.
void discard_earlier_jobs(const std::filesystem::path& record) {
  if (!std::filesystem::exists(record)) return;
  const LockedRecord locked(record);
  const std::string job = mend::launch::job();
  std::string kept;
  std::ifstream lines(record);
  for (std::string line; std::getline(lines, line);) {
    if (tells_of_job(line, job)) kept += line + "\n";
  }
  locked.clear();
  locked.append(kept);
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

void check_kill_order(const KillOrder& order, std::span<const std::string> places, long last_step, int spares,
                      bool more_may_come) {
  const auto is_meant = [&](std::string_view place) { return matches_point(order.point, place); };
  if (std::none_of(places.begin(), places.end(), is_meant) && std::ranges::none_of(mend::fault_points, is_meant)) {
    std::set<std::string_view> rooms(places.begin(), places.end());
    for (const std::string_view point : mend::fault_points) rooms.insert(point.substr(0, point.find('.')));
    throw mend::UsageError(
        fmt::format("--kill: there is no place \"{}\"; there are {}, and parts of these such as "
                    "commit.publish",
                    order.point, fmt::join(rooms, ", ")));
  }
  if (order.step > last_step) {
    throw mend::UsageError(
        fmt::format("--kill: nobody dies in step {} when step {} is the last", order.step, last_step));
  }
  const int launched = launched_processes();
  if (launched == 0) return;
  const auto* process = std::get_if<mend::ProcessId>(&order.who);
  const int ranks = launched - spares;
  if (!more_may_come && process != nullptr && process->value >= static_cast<std::uint32_t>(launched)) {
    throw mend::UsageError(fmt::format("--kill: there is no process p{}: the {} launched are p0 to p{}", process->value,
                                       launched, launched - 1));
  }
  if (process == nullptr && std::get<mend::Rank>(order.who).value >= ranks && ranks > 0) {
    throw mend::UsageError(fmt::format("--kill: there is no rank {}: the job has {}, from 0",
                                       std::get<mend::Rank>(order.who).value, ranks));
  }
}

std::filesystem::path kill_record(const std::filesystem::path& result) {
  return result.empty() ? result : std::filesystem::path(result.native() + ".kills");
}

KillSwitch::KillSwitch(std::vector<KillOrder> orders, std::filesystem::path record)
    : orders_(std::move(orders)), record_(std::move(record)), self_(mend::launch::self()) {
  if (!record_.empty() && mend::launch::speaks_for_all()) discard_earlier_jobs(record_);
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
    if (due && matches_point(order.point, point) && concerns_me(order)) obey(order, point);
  }
}

bool KillSwitch::concerns_me(const KillOrder& order) const {
  if (const auto* process = std::get_if<mend::ProcessId>(&order.who)) return self_ == *process;
  if (rank_ != std::get<mend::Rank>(order.who)) return false;
  const auto this_one = orders_.begin() + (&order - orders_.data());
  return std::count_if(orders_.begin(), this_one, [&](const KillOrder& earlier) { return earlier.who == order.who; }) ==
         predecessors_;
}

void KillSwitch::obey(const KillOrder& order, std::string_view point) {
  if (hung_) return;
  if (!record_.empty()) {
    nlohmann::ordered_json line;
    line["job"] = mend::launch::job();
    line["rank"] = rank_ ? nlohmann::ordered_json(rank_->value) : nullptr;
    line["machine"] = mend::launch::machine();
    line["process"] = self_.value_or(mend::ProcessId{0}).value;
    line["step"] = step_ ? nlohmann::ordered_json(*step_) : nullptr;
    line["point"] = point;
    line["hangs"] = order.hangs;
    line["time_us"] = mend::in_microseconds(mend::WallClock::now()).count();
    LockedRecord(record_).append(line.dump() + "\n");
  }
  hung_ = order.hangs;
  std::raise(order.hangs ? SIGSTOP : SIGKILL);
}

}  // namespace apps
