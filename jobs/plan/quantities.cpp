#include "jobs/plan/quantities.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace mend::jobs {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array times{Unit{"ms", 1e-3}, Unit{"s", 1},     Unit{"min", 60},
                           Unit{"h", 3600},  Unit{"d", 86400}, Unit{"y", 31536e3}};
constexpr std::array sizes{Unit{"", 1},
                           Unit{"B", 1},
                           Unit{"kB", 1e3},
                           Unit{"MB", 1e6},
                           Unit{"GB", 1e9},
                           Unit{"TB", 1e12},
                           Unit{"KiB", 1024.0},
                           Unit{"MiB", 1048576.0},
                           Unit{"GiB", 1073741824.0},
                           Unit{"TiB", 1099511627776.0}};
constexpr std::array chances{Unit{"", 1}, Unit{"%", 0.01}};

/// Reads a number and one of the units. Returns nothing if it is something else, or if the value is not positive.
template <std::size_t n>
std::optional<double> read(std::string_view text, const std::array<Unit, n>& units) {
  double number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view name(end, static_cast<std::size_t>(last - end));
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    const double value = number * unit.factor;
    if (std::isfinite(value) && value > 0) return value;
  }
  return std::nullopt;
}

}  // namespace

Seconds parse_time(std::string_view text) {
  constexpr double most = 31536e3 * 1e9;  // so that it can be counted in whole seconds
  if (const auto value = read(text, times); value && *value <= most) return Seconds(*value);
  // A bare number is seconds to some programs and minutes to Slurm.
  if (read(text, std::array{Unit{"", 1}}))
    throw UsageError(fmt::format("'{0}' is a time without a unit: give {0}s for seconds, or {0}min for minutes", text));
  throw UsageError(
      fmt::format("'{}' is not a time: give a number above 0 and ms, s, min, h, d or y, as in 36h, up to 1e9y", text));
}

double parse_size(std::string_view text) {
  if (const auto value = read(text, sizes)) return *value;
  throw UsageError(fmt::format(
      "'{}' is not a size: give a number above 0 and B, kB, MB, GB, TB, KiB, MiB, GiB or TiB, as in 2GiB", text));
}

double parse_chance(std::string_view text) {
  const auto value = read(text, chances);
  if (value && *value < 1) return *value;
  throw UsageError(
      fmt::format("'{}' is not a probability: give a number above 0 and below 1, or a percentage, as in 1%", text));
}

std::string text_of(Seconds time) {
  constexpr std::array shown{Unit{"y", 31536e3}, Unit{"d", 86400}, Unit{"h", 3600}, Unit{"min", 60}, Unit{"s", 1}};
  for (const Unit& unit : shown) {
    // A unit is used for values of two or more: 36h is more precise than 1.5d.
    if (time.count() >= (unit.factor > 1 ? 2 : 1) * unit.factor)
      return fmt::format("{:.3g}{}", time.count() / unit.factor, unit.name);
  }
  return fmt::format("{:.3g}ms", time.count() * 1e3);
}

std::string size_text(double bytes) {
  constexpr std::array shown{Unit{"TiB", 1099511627776.0}, Unit{"GiB", 1073741824.0}, Unit{"MiB", 1048576.0},
                             Unit{"KiB", 1024.0}};
  for (const Unit& unit : shown) {
    if (bytes >= unit.factor) return fmt::format("{:.4g}{}", bytes / unit.factor, unit.name);
  }
  return fmt::format("{:.0f}B", bytes);
}

std::string chance_text(double chance) {
  if (chance > 0 && chance < 1e-11) return "<1e-9 %";
  const double percent = 100 * chance;
  const bool has_whole_digits = percent >= 99.5 && percent < 1e6;  // {:.2g} writes 1e+02 there
  return has_whole_digits ? fmt::format("{:.0f} %", percent) : fmt::format("{:.2g} %", percent);
}

}  // namespace mend::jobs
