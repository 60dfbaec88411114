#include "framework/reporting/rollback_report.hpp"

#include "transport/collectives.hpp"

#include <algorithm>

namespace mend {
namespace {

using Numbers = std::vector<std::uint64_t>;

Numbers numbers_of(const RollbackReport& report) {
  Numbers numbers{report.version.value, report.back.size()};
  for (const Rank rank : report.back) numbers.push_back(static_cast<std::uint64_t>(rank.value));
  for (const auto& [kept, logged] : report.ranks) numbers.insert(numbers.end(), {kept, logged});
  return numbers;
}

RollbackReport report_from(Epoch epoch, const Numbers& numbers) {
  RollbackReport report{epoch, Version{numbers.at(0)}, {}, {}};
  std::size_t at = 2;
  for (; at < 2 + numbers.at(1); ++at) report.back.push_back(Rank{static_cast<int>(numbers.at(at))});
  for (; at + 1 < numbers.size(); at += 2) report.ranks.push_back({numbers[at], numbers[at + 1]});
  return report;
}

}  // namespace

std::vector<RollbackReport> over_all_ranks(std::span<const RollbackReport> own, std::span<const Epoch> epochs,
                                           MPI_Comm comm) {
  std::vector<RollbackReport> all;
  for (const Epoch epoch : epochs) {
    const auto known = std::ranges::find(own, epoch, &RollbackReport::epoch);
    const auto teller = lowest_rank_with(comm, known != own.end());
    if (!teller) continue;
    Numbers numbers = known != own.end() ? numbers_of(*known) : Numbers{};
    std::uint64_t size = numbers.size();
    call_mpi([&] { return MPI_Bcast(&size, 1, MPI_UINT64_T, *teller, comm); }, "MPI_Bcast");
    numbers.resize(size);
    call_mpi([&] { return MPI_Bcast(numbers.data(), static_cast<int>(size), MPI_UINT64_T, *teller, comm); },
             "MPI_Bcast", size * sizeof(std::uint64_t));
    all.push_back(report_from(epoch, numbers));
  }
  return all;
}

}  // namespace mend
