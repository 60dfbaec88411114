#include "store/redundancy.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace mend {
namespace {

constexpr int largest_group = 128;  // a group may have almost twice as many ranks, and a coefficient of one byte allows
                                    // 256 blocks in a stripe

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0 || value > largest_group)
    return std::nullopt;
  return value;
}

/// Reads the scheme that `text` names, without checking that it makes sense.
std::optional<Redundancy> read(std::string_view text) {
  if (text == "local") return Redundancy{1, 0};
  if (text == "partner") return Redundancy{1, 1};
  const std::string_view name = text.substr(0, text.find(':'));
  if (name.size() == text.size()) return std::nullopt;
  const std::string_view rest = text.substr(name.size() + 1);
  const auto plus = rest.find('+');
  if (name == "rs") {
    if (plus == std::string_view::npos) return std::nullopt;
    const auto data = number(rest.substr(0, plus));
    const auto parity = number(rest.substr(plus + 1));
    if (!data || !parity) return std::nullopt;
    return Redundancy{*data, *parity};
  }
  const auto count = number(rest);
  if (!count) return std::nullopt;
  if (name == "replicas") return Redundancy{1, *count};
  if (name == "xor") return Redundancy{*count - 1, 1};
  return std::nullopt;
}

}  // namespace

Redundancy Redundancy::parse(std::string_view text) {
  const auto read_as = read(text);
  const bool makes_sense = read_as && read_as->data >= 1 && (read_as->parity >= 1 || text == "local") &&
                           read_as->data + read_as->parity <= largest_group;
  if (!makes_sense) {
    throw UsageError(
        fmt::format("'{}' is not a redundancy: give partner, replicas:K (K copies), xor:G (groups of G ranks, 2 or "
                    "more), rs:K+M (groups that survive M losses), or local; groups have at most {} ranks",
                    text, largest_group));
  }
  return *read_as;
}

int Redundancy::least_ranks() const { return *this == Redundancy{1, 1} ? 1 : data + parity; }

Redundancy Redundancy::fitting(int ranks) const {
  return ranks >= least_ranks() ? *this : Redundancy{1, std::min(parity, ranks - 1)};
}

void Redundancy::require_sense() const {
  const bool fits_in_group = data >= 1 && data <= largest_group && parity >= 0 && parity <= largest_group - data;
  if (fits_in_group && (parity > 0 || copies())) return;
  throw UsageError(fmt::format(
      "data {} and parity {} make no redundancy: use mend::Redundancy::parse, which checks them", data, parity));
}

void Redundancy::require_ranks(int ranks) const {
  require_sense();
  if (ranks >= least_ranks()) return;
  throw UsageError(
      fmt::format("redundancy {} needs {} ranks or more, and the job has {}: start more processes, or choose "
                  "another (--mend-redundancy)",
                  to_string(*this), least_ranks(), ranks));
}

std::string to_string(const Redundancy& redundancy) {
  if (redundancy.parity == 0) return "local";
  if (redundancy == Redundancy{1, 1}) return "partner";
  if (redundancy.copies()) return fmt::format("replicas:{}", redundancy.parity);
  if (redundancy.parity == 1) return fmt::format("xor:{}", redundancy.data + 1);
  return fmt::format("rs:{}+{}", redundancy.data, redundancy.parity);
}

}  // namespace mend
