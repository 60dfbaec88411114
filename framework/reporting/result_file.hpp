// The result file of a job, which `mend run --result` names and `mend report` reads: the deaths and recoveries, the
// cost of fault tolerance, and the fields that the application reports.

#pragma once

#include "base/error.hpp"
#include "framework/recovery_report.hpp"
#include "framework/reporting/rollback_report.hpp"
#include "store/store.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace mend {

/// The fields that the application reports on this rank (Session::report, Session::report_hash).
class Answer {
 public:
  using Value = std::variant<long long, unsigned long long, double, std::string>;

  void report(std::string name, Value value) { fields_.insert_or_assign(std::move(name), std::move(value)); }
  void report_hash(std::span<const std::byte> part);

  const std::map<std::string, Value>& fields() const { return fields_; }
  std::optional<std::uint64_t> hash() const { return hash_; }

 private:
  std::map<std::string, Value> fields_;
  std::optional<std::uint64_t> hash_;
};

/// mend's own data for the result file, in this process.
struct JobFacts {
  int spares = 0;
  Seconds total{};
  Version version;
  StoreStatistics store;
  std::vector<RecoveryReport> recoveries;  ///< over all ranks
  std::vector<RollbackReport> rollbacks;   ///< likewise, for the recoveries with local rollback
};

/// Returns each recovery as seen by the rank for which the whole took longest, because times of different clocks cannot
/// be combined. A rank that was a spare in a recovery had nothing to restore. Collective over `comm`, whose errors are
/// thrown.
std::vector<RecoveryReport> over_all_ranks(std::span<const RecoveryReport> own, MPI_Comm comm);

/// Rank 0 of `comm` writes the result file completely or not at all. Collective over `comm`, whose errors are thrown.
/// Throws EnvironmentError on rank 0 if the file cannot be written.
void write_result(const std::filesystem::path& file, const JobFacts& facts, const Answer& answer, MPI_Comm comm);

/// The reason why a job has not finished.
struct FailedEnd {
  ExitCode code = ExitCode::failed;
  std::string reason;
};

/// The same for a job that has failed, written by this process alone: with its own recoveries, and the fields that it
/// has reported. Writes only regular files: the launcher, which knows more about the end, writes into others. `ranks`:
/// at the start of the job. Throws EnvironmentError if the file cannot be written. Local.
void write_result_of_failure(const std::filesystem::path& file, const JobFacts& facts, const Answer& answer, int ranks,
                             const FailedEnd& end);

/// The result file that a job writes, if it is wanted.
struct ResultFile {
  std::filesystem::path path;  ///< empty: no file
  Answer answer{};
};

}  // namespace mend
