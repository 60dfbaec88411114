#include "jobs/run/time_limit.hpp"

#include "jobs/allocation/scheduler_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string>

namespace mend::jobs {
namespace {

std::optional<long long> number_in(std::string_view text) {
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

/// Only digits of the job number reach the shell.
std::optional<Seconds> ask_squeue(long long job) {
  const std::string answer = scheduler_answer(fmt::format("squeue --noheader --jobs={} --format=%L", job));
  const std::string_view line = std::string_view(answer).substr(0, answer.find('\n'));
  return parse_slurm_time(line.substr(0, line.find_last_not_of(' ') + 1));
}

}  // namespace

std::optional<Seconds> parse_slurm_time(std::string_view text) {
  long long days = 0;
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    const auto number = number_in(text.substr(0, dash));
    if (!number) return std::nullopt;
    days = *number;
    text.remove_prefix(dash + 1);
  }
  long long seconds = 0;
  for (bool more = true; more;) {
    const auto colon = text.find(':');
    const auto number = number_in(text.substr(0, colon));
    if (!number) return std::nullopt;
    seconds = 60 * seconds + *number;
    more = colon != std::string_view::npos;
    if (more) text.remove_prefix(colon + 1);
  }
  return Seconds(static_cast<double>(days * 86'400 + seconds));
}

std::optional<Seconds> time_left_in_allocation() {
  const char* const job = std::getenv("SLURM_JOB_ID");
  const auto number = job == nullptr ? std::nullopt : number_in(job);
  if (!number) return std::nullopt;
  const char* const text = std::getenv("SLURM_JOB_END_TIME");
  const auto end = text == nullptr ? std::nullopt : number_in(text);
  if (!end || *end == 0) return ask_squeue(*number);
  const std::chrono::system_clock::time_point at{std::chrono::seconds(*end)};
  return std::max(Seconds{0}, Seconds(at - std::chrono::system_clock::now()));
}

Seconds usual_margin(Seconds limit) { return std::min(Seconds{60}, limit / 10); }

}  // namespace mend::jobs
