// Why a job ends that has ranks nobody is there for: the sentence for the user.

#pragma once

#include "base/process_set.hpp"
#include "framework/recovery_report.hpp"
#include "framework/reporting/repeated_deaths.hpp"
#include "spares/failure_policy.hpp"

#include <optional>
#include <string>
#include <vector>

namespace mend {

/// What the last recovery has come to.
struct Vacancies {
  std::vector<Loss> lost;                ///< ranks whose processes have died, ascending
  std::vector<Rank> vacant;              ///< those of them that nobody is there for, ascending
  std::optional<int> tries{};            ///< so many recoveries in vain that no more processes are started
  std::optional<RepeatedDeath> fault{};  ///< one of the ranks has died like this before; told unless `tries` is
  std::optional<RepeatedDeath> row{};    ///< one has died again and again, whatever of
  int spares = 1;                        ///< that the job has begun with
  ProcessSet lost_spares{};              ///< spares that have died as spares
  bool of_all_ranks = false;             ///< `lost` are all ranks that the job had
};

/// Says who died, what of, and what to do about it. `vacancies.lost` is not empty. Pure.
std::string describe_vacancies(const Vacancies& vacancies, const Policy& policy, const CauseOf& cause_of);

/// The same when the rank gets no more processes, because the program fails. `fault.times` may be 0: another process
/// knows more. Pure.
std::string describe_fault(const RepeatedDeath& fault);

}  // namespace mend
