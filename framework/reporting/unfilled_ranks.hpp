// The message for the user when a job ends because ranks have no process.

#pragma once

#include "base/process_set.hpp"
#include "framework/recovery_report.hpp"
#include "framework/reporting/repeated_deaths.hpp"
#include "spares/failure_policy.hpp"

#include <optional>
#include <string>
#include <vector>

namespace mend {

/// The largest number of commits between two recoveries of a row.
enum class Between { no_commit, one_commit };

/// The state of the job after its last recovery.
struct UnfilledRanks {
  std::vector<LostRank> lost;            ///< ranks whose processes have died, ascending
  std::vector<Rank> vacant;              ///< the lost ranks that no process has taken over, ascending
  std::optional<int> tries{};            ///< the number of recoveries in vain after which no more processes are started
  std::optional<RepeatedDeath> fault{};  ///< a rank that has died like this before; reported unless `tries` is set
  std::optional<RepeatedDeath> row{};    ///< a rank that has died repeatedly, of any cause
  int spares = 1;                        ///< the number of spares at the start of the job
  ProcessSet lost_spares{};              ///< spares that have died as spares
  bool of_all_ranks = false;             ///< all ranks of the job are in `lost`
  Between between = Between::no_commit;  ///< of the recoveries that `tries`, `fault` and `row` count
};

/// Returns which ranks died, the causes, and what to do. `unfilled.lost` must not be empty. Pure.
std::string describe_unfilled_ranks(const UnfilledRanks& unfilled, const Policy& policy, const CauseOf& cause_of);

/// The same for a rank that gets no more processes because the program fails. `fault.times` may be 0 if only another
/// process knows the rank. Pure.
std::string describe_fault(const RepeatedDeath& fault);

}  // namespace mend
