// The end of the body on this rank: what the rank wants to do next, and what it tells the other ranks.

#pragma once

#include "agreement/ballot.hpp"
#include "base/ids.hpp"
#include "framework/recovery/job_end.hpp"

#include <functional>
#include <string>

namespace mend {

/// Parts of the messages about errors of the body. Computed only when there is an error, because a repair may have
/// changed them.
struct BodyContext {
  std::function<Rank()> rank;
  std::function<std::string()> advice_on_loss;  ///< follows a message about lost data
};

/// Runs `work`, and returns what this rank wants to do next: finish if it returns, recover if it throws ProcessFailure,
/// end the job if it throws anything else. Records in `end` why the job ends. Never throws: an exception would end this
/// process, and then each spare that takes its place.
agreement::Proposal proposal_after(const std::function<void()>& work, const BodyContext& context, JobEnd& end);

/// Runs `work`. If it has forked a child that leaves `work` too, ends the child there, because it is no rank.
void run_in_this_process(const std::function<void()>& work);

}  // namespace mend
