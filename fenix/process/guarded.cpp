#include "fenix/process/guarded.hpp"

#include "agreement/ballot.hpp"
#include "base/death/fail_stop.hpp"
#include "base/error.hpp"
#include "base/telemetry/log.hpp"
#include "fenix/mlog/message_logs.hpp"
#include "store/engine/epoch_ranks.hpp"

#include <fmt/format.h>

#include <optional>

namespace mend::fenix {
namespace {

/// Returns the result of `work`; nothing after a failure.
std::optional<int> attempt(const char* function, const std::function<int()>& work) {
  const ErrorsHandled as_in_cpp(OnError::throws);
  const MessageLogs::Paused unlogged(*state().logs);
  try {
    return work();
  } catch (const ThrownByProgram& thrown) {
    std::rethrow_exception(thrown.exception);
  } catch (const ProcessFailure&) {
    return std::nullopt;
  } catch (const agreement::Abandoned&) {
    return std::nullopt;  // the others are ending the job, and this process will end it in the recovery
  } catch (const UsageError& mistake) {
    log::warn(fmt::format("{}: {}", function, mistake.what()));
    return FENIX_ERROR_INVALID_LOGIC_CALL;
  } catch (const DataLoss& loss) {
    log::warn(fmt::format("{}: {}", function, loss.what()));
    return FENIX_ERROR_NODATA_FOUND;
  } catch (const CommonError& error) {
    log::error(fmt::format("{}: {}", function, error.what()));
    return FENIX_ERROR_INTERN;
  } catch (const RefusedCommit& error) {
    log::error(fmt::format("{}: {}", function, error.what()));
    return FENIX_ERROR_INTERN;
  } catch (const std::exception& error) {  // the others wait for this process, and programs ignore returned codes
    fail_stop(error.what());
  }
}

}  // namespace

Outcome tried(const char* function, const std::function<int()>& work) {
  const auto code = attempt(function, work);
  return code ? Outcome{*code} : Outcome{FENIX_ERROR_CANCELLED, true};
}

Outcome guarded(const char* function, const std::function<int()>& work) {
  if (!is_active(function)) return {FENIX_ERROR_UNINITIALIZED};
  InPlace& in_place = state().in_place;
  for (;;) {
    if (in_place.calls_back && in_place.interrupted) return {FENIX_ERROR_CANCELLED, true};
    if (const auto code = attempt(function, work)) return {*code};
    if (!recovers()) {
      state().last_error = MPIX_ERR_PROC_FAILED;
      return {FENIX_ERROR_CANCELLED, true};
    }
    if (in_place.calls_back) {
      in_place.interrupted = true;
    } else if (!state().logs->recovers_in_place()) {
      recover(MPIX_ERR_PROC_FAILED);
      return {FENIX_ERROR_CANCELLED, true};
    } else if (!go_on_in_place(false)) {
      return {FENIX_ERROR_CANCELLED, true};
    }
  }
}

}  // namespace mend::fenix
