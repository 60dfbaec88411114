// How this rank's part of the body has ended: what it wants of the others, and what they are told.

#pragma once

#include "agreement/ballot.hpp"
#include "base/ids.hpp"
#include "framework/recovery/job_end.hpp"

#include <functional>
#include <string>

namespace mend {

/// What sentences on errors of the body contain. Asked only when there is an error: a repair may have changed both.
struct BodyContext {
  std::function<Rank()> rank;
  std::function<std::string()> advice_on_loss;  ///< follows a sentence on lost data
};

/// Does `work`, and returns what this rank wants after it: to finish if it returns, to recover if it throws
/// ProcessFailure, to end the job if it throws anything else. Notes in `end` why the job ends. No exception passes: it
/// would end this process, and then each spare that takes its place.
agreement::Motion motion_after(const std::function<void()>& work, const BodyContext& context, JobEnd& end);

}  // namespace mend
