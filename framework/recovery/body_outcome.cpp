#include "framework/recovery/body_outcome.hpp"

#include "base/death/forked_child.hpp"
#include "base/error.hpp"
#include "base/telemetry/log.hpp"
#include "base/telemetry/user_text.hpp"
#include "store/disk/disk_tier.hpp"

#include <fmt/format.h>

#include <exception>
#include <string>

namespace mend {

using agreement::Proposal;

agreement::Proposal proposal_after(const std::function<void()>& work, const BodyContext& context, JobEnd& end) {
  const auto of_rank = [&](const std::string& text) { return fmt::format("rank {}: {}", context.rank().value, text); };
  try {
    work();
    return Proposal::finish;
  } catch (const ProcessFailure& failure) {
    log::debug(fmt::format("rank {} left the body: {}", context.rank().value, text_of(failure)));
    return Proposal::recover;
  } catch (const agreement::Abandoned&) {  // another rank knows the reason
  } catch (const agreement::OrderError& error) {
    end.fail(ExitCode::usage, error.what());
  } catch (const UsageErrorOfRank& error) {
    end.fail(ExitCode::usage, error.what());
  } catch (const UsageError& error) {
    end.fail(ExitCode::usage, of_rank(text_of(error)));
  } catch (const NothingUsable& error) {
    end.error = {ExitCode::unrecoverable, error.what(), false};
  } catch (const DataLoss& error) {
    end.fail(ExitCode::unrecoverable, error.what() + context.advice_on_loss());
  } catch (const std::exception& error) {
    end.fail(ExitCode::failed, of_rank(text_of(error)));
  } catch (...) {
    end.fail(ExitCode::failed, of_rank("the body threw an object that is not a std::exception"));
  }
  return Proposal::abandon;
}

void run_in_this_process(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    end_forked_child(fmt::format("left the body by an exception ({})", text_of(error)));
    throw;
  } catch (...) {
    end_forked_child("left the body by an exception");
    throw;
  }
  end_forked_child("left the body");
}

}  // namespace mend
