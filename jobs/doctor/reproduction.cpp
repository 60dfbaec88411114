#include "jobs/doctor/reproduction.hpp"

#include "jobs/doctor/program.hpp"
#include "jobs/setup/tested_open_mpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

namespace mend::jobs {
namespace {

/// Removes the text up to the next tab from `line`, and returns it. Returns all if there is no tab.
std::string_view take_column(std::string_view& line) {
  const auto end = std::min(line.find('\t'), line.size());
  const std::string_view column = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return column;
}

std::optional<Defect> defect_named(std::string_view word) {
  if (word == "shown") return Defect::shown;
  if (word == "not shown") return Defect::not_shown;
  if (word == "untestable") return Defect::untestable;
  return std::nullopt;
}

std::optional<Reproduction> reproduction_in(std::string_view line) {
  if (std::ranges::count(line, '\t') < 4) return std::nullopt;
  const auto correction = std::ranges::find(corrections(), take_column(line), &Correction::name);
  const auto defect = defect_named(take_column(line));
  const std::string_view run = take_column(line);
  int number = 0;
  const auto [end, error] = std::from_chars(run.data(), run.data() + run.size(), number);
  const bool is_number = error == std::errc() && end == run.data() + run.size();
  if (correction == corrections().end() || !defect || !is_number) return std::nullopt;
  take_column(line);  // the seconds
  return Reproduction{*correction, *defect, number, std::string(line)};
}

auto count(std::span<const Reproduction> reproductions, Defect defect) {
  return std::ranges::count(reproductions, defect, &Reproduction::defect);
}

/// Returns the finding that `count` of `of` defects were not tried.
Finding not_tried(std::size_t count, std::size_t of, const std::string& why, std::string remedy) {
  return {Level::warn, "corrections", fmt::format("{} of {} defects were not tried: {}", count, of, why),
          std::move(remedy)};
}

bool is_there(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored);
}

}  // namespace

std::vector<Reproduction> reproductions_in(std::string_view table) {
  std::vector<Reproduction> found;
  while (!table.empty()) {
    const auto end = std::min(table.find('\n'), table.size());
    if (auto one = reproduction_in(table.substr(0, end))) found.push_back(std::move(*one));
    table.remove_prefix(std::min(end + 1, table.size()));
  }
  return found;
}

Findings findings_of(std::span<const Reproduction> reproductions, bool are_missing) {
  Findings findings;
  for (const Reproduction& one : reproductions) {
    if (one.defect != Defect::shown) continue;
    findings.push_back({Level::warn, "corrections",
                        fmt::format("Open MPI shows the defect that {} corrects: {} (run {}: {})", one.correction.name,
                                    one.correction.without, one.run, one.words),
                        ""});
  }
  if (!findings.empty()) {
    findings.back().remedy =
        are_missing
            ? fmt::format(
                  "the Open MPI that jobs/setup.sh builds has all of mend's corrections: jobs/setup.sh --open-mpi {}",
                  tested_open_mpi)
            : "report this: the library has these corrections";
  }
  if (const auto absent = count(reproductions, Defect::not_shown); absent > 0) {
    findings.push_back(
        {Level::pass, "corrections", fmt::format("{} of {} defects are not shown", absent, reproductions.size()), ""});
  }
  // Of a library with the corrections, a few need a network that is not here. If none can be tried, nothing is known.
  const bool has_tried = count(reproductions, Defect::untestable) < std::ssize(reproductions);
  const Level of_untried = are_missing || !has_tried ? Level::warn : Level::pass;
  for (const Reproduction& one : reproductions) {
    if (one.defect != Defect::untestable) continue;
    findings.push_back({of_untried, "corrections",
                        fmt::format("the defect that {} corrects cannot be tried: {}", one.correction.name, one.words),
                        ""});
  }
  return findings;
}

Findings reproduce(const std::filesystem::path& script, const std::filesystem::path& prefix,
                   std::span<const Correction> tried, bool are_missing) {
  const std::size_t count = tried.size();
  if (!is_there(script))
    return {not_tried(count, count, fmt::format("there is no {}", script.string()), "install mend anew")};
  if (!is_there(prefix / "bin/mpicc")) {
    return {not_tried(count, count,
                      fmt::format("there is no mpicc in {}, to compile their reproducers", (prefix / "bin").string()),
                      "install the compilers and headers of this Open MPI")};
  }
  std::vector<std::string> line{script.string(), "--check", prefix.string(), "--tabs"};
  for (const Correction& correction : tried) line.emplace_back(correction.name);
  const ProgramEnd end = run_program(line, longest_reproduction * static_cast<int>(count));
  const std::vector<Reproduction> reproductions = reproductions_in(end.output);
  Findings findings = findings_of(reproductions, are_missing);
  if (reproductions.size() < count) {
    findings.push_back(not_tried(count - reproductions.size(), count, end.complaint(),
                                 fmt::format("{} --check {}", script.string(), prefix.string())));
  }
  return findings;
}

}  // namespace mend::jobs
