// What a job leaves about itself in the file that `mend run --result` names, for `mend report`: who died in which
// recovery, what fault tolerance has cost, and what the application reports of its answer.

#pragma once

#include "framework/recovery_report.hpp"
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

/// What the application reports of its answer on this rank (Session::report, Session::report_hash).
class Answer {
 public:
  using Value = std::variant<long long, double, std::string>;

  void report(std::string name, Value value) { fields_.insert_or_assign(std::move(name), std::move(value)); }
  void report_hash(std::span<const std::byte> part);

  const std::map<std::string, Value>& fields() const { return fields_; }
  std::optional<std::uint64_t> hash() const { return hash_; }

 private:
  std::map<std::string, Value> fields_;
  std::optional<std::uint64_t> hash_;
};

/// What mend has to say of the job in this process.
struct JobFacts {
  int spares = 0;
  Seconds total{};
  Version version;
  StoreStatistics store;
  std::vector<RecoveryReport> recoveries;  ///< over all ranks
};

/// Each recovery as the rank saw it for which it took longest, whole: times of different clocks are not put together. A
/// rank that was still a spare in some recovery had nothing to restore in it. Collective over `comm`, whose errors are
/// thrown.
std::vector<RecoveryReport> over_all_ranks(std::span<const RecoveryReport> own, MPI_Comm comm);

/// Rank 0 of `comm` writes the result, whole or not at all. Collective over `comm`, whose errors are thrown. Throws
/// EnvironmentError on rank 0 when the file cannot be written.
void write_result(const std::filesystem::path& file, const JobFacts& facts, const Answer& answer, MPI_Comm comm);

/// The result that a job is to leave.
struct ResultFile {
  std::filesystem::path path;  ///< empty: none is wanted
  Answer answer{};
};

}  // namespace mend
