#include "replay/uncoordinated/recovery_line.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mend::replay {

namespace {

bool lower(std::optional<CommitEpoch>& target, CommitEpoch epoch) {
  if (target && *target <= epoch) return false;
  target = epoch;
  return true;
}

/// Returns true if a peer that rolls back to `target` needs messages of this row which only their sender can compute
/// again.
bool is_needed(const Row& row, std::size_t peer, CommitEpoch target, Date had) {
  if (row.received[peer] && *row.received[peer] >= target) return true;
  return row.unacknowledged[peer] > had && row.epoch >= target;
}

/// Sends back all ranks that have sent to `peer` messages that it needs and that are not logged.
bool propagate(std::span<const Report> reports, std::size_t peer, Line& line) {
  bool changed = false;
  for (std::size_t sender = 0; sender < reports.size(); ++sender) {
    if (sender == peer) continue;
    const Date had = received_by(reports[peer], line[peer])[sender];
    for (const Row& row : reports[sender].rows) {
      if (is_needed(row, peer, *line[peer], had)) changed |= lower(line[sender], row.epoch);
    }
  }
  return changed;
}

bool join_clusters(std::span<const int> clusters, Line& line) {
  bool changed = false;
  for (std::size_t rank = 0; rank < line.size(); ++rank) {
    if (!line[rank]) continue;
    for (std::size_t mate = 0; mate < line.size(); ++mate) {
      if (clusters[mate] == clusters[rank]) changed |= lower(line[mate], *line[rank]);
    }
  }
  return changed;
}

}  // namespace

const std::vector<Date>& received_by(const Report& report, std::optional<CommitEpoch> target) {
  if (!target) return report.has;
  const auto row =
      std::find_if(report.rows.begin(), report.rows.end(), [&](const Row& one) { return one.epoch >= *target; });
  return row == report.rows.end() ? report.has : row->had;
}

Date sent_before(const Report& report, std::optional<CommitEpoch> target, std::size_t peer) {
  const auto row =
      std::find_if(report.rows.begin(), report.rows.end(), [&](const Row& one) { return one.epoch == target; });
  return row == report.rows.end() ? Date{} : row->begin[peer];
}

Line recovery_line(std::span<const Report> reports, std::span<const int> clusters) {
  Line line(reports.size());
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    if (reports[rank].back) line[rank] = reports[rank].epoch;
  }
  Line known(reports.size());
  for (bool changed = true; changed;) {
    changed = join_clusters(clusters, line);
    for (std::size_t rank = 0; rank < reports.size(); ++rank) {
      if (line[rank] == known[rank]) continue;
      known[rank] = line[rank];
      changed |= propagate(reports, rank, line);
      changed = true;
    }
  }
  return line;
}

Line line_of_all(std::span<const Report> reports, std::span<const int> clusters) {
  std::vector<Report> all(reports.begin(), reports.end());
  for (Report& report : all) report.back = true;
  return recovery_line(all, clusters);
}

std::string to_string(const Line& line) {
  std::string text;
  for (std::size_t rank = 0; rank < line.size(); ++rank) {
    if (line[rank]) text += fmt::format("{}{} to {}", text.empty() ? "" : ", ", rank, line[rank]->value);
  }
  return text;
}

void add_to(transport::Fingerprint& print, const Report& report) {
  print.add(report.back);
  print.add(report.epoch.value);
  print.add(report.rows.size());
  for (const Row& row : report.rows) {
    print.add(row.epoch.value);
    for (const Date date : row.begin) print.add(date.value);
    for (const auto& epoch : row.received) print.add(epoch ? epoch->value + 1 : 0);
    for (const Date date : row.had) print.add(date.value);
    for (const Date date : row.unacknowledged) print.add(date.value);
  }
  for (const Date date : report.has) print.add(date.value);
}

}  // namespace mend::replay
