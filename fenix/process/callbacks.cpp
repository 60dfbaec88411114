#include "fenix/process/callbacks.hpp"

#include "base/telemetry/log.hpp"
#include "fenix/data/call.hpp"
#include "fenix/mlog/message_logs.hpp"
#include "fenix/process/guarded.hpp"
#include "fenix/process/job.hpp"
#include "fenix/process/settings.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace mend::fenix {
namespace {

std::uint64_t epoch_now() { return state().engine().epoch_state().epoch.value; }

/// Calls a callback. Holds no object with a destructor, because the callback may jump.
void call(const Callback& callback) {
  ++state().callbacks.running;
  try {
    callback(resilient(), state().last_error);
  } catch (...) {
    --state().callbacks.running;
    throw;
  }
  --state().callbacks.running;
}

/// Calls one callback. Returns true if the next one is to be called. Holds no object with a destructor, because the
/// callback may jump.
bool call_back(std::size_t index, std::uint64_t epoch) {
  const Callbacks::List& callbacks = state().callbacks.after_recovery;
  if (index >= callbacks.size()) return true;  // removed by the callback before it
  call(*callbacks[index]);
  // If the epoch is another one, the job has recovered from another failure in the callback, and all callbacks were
  // called.
  return epoch_now() == epoch;
}

bool call_back_and_squash(std::size_t index, std::uint64_t epoch) {
  try {
    return call_back(index, epoch);
  } catch (const ::fenix::CommException&) {
    return epoch_now() == epoch;
  }
}

}  // namespace

void add_callback(Callbacks::List& callbacks, Callback callback) {
  callbacks.push_back(std::make_shared<const Callback>(std::move(callback)));
}

/// Destroys the callback only when no callback runs, because it may be running.
void take_back_callback(Callbacks::List& callbacks) {
  Callbacks::List& taken_back = state().callbacks.taken_back;
  if (state().callbacks.running == 0) taken_back.clear();
  taken_back.push_back(std::move(callbacks.back()));
  callbacks.pop_back();
}

void call_all_back() {
  const std::uint64_t epoch = epoch_now();
  const bool squash = settings().callback_exception == FENIX_CALLBACK_EXCEPTION_SQUASH;
  message_logs().pause();
  try {
    for (std::size_t left = state().callbacks.after_recovery.size(); left > 0; --left) {
      if (!(squash ? call_back_and_squash(left - 1, epoch) : call_back(left - 1, epoch))) break;
    }
  } catch (...) {
    message_logs().resume();
    throw;
  }
  message_logs().resume();
}

bool call_all_back_in_place() {
  const bool squash = settings().callback_exception == FENIX_CALLBACK_EXCEPTION_SQUASH;
  InPlace& now = state().in_place;
  now = {.calls_back = true};
  const Callbacks::List& callbacks = state().callbacks.after_recovery;
  try {
    const ErrorsHandled handed_over(OnError::hands_over);
    for (std::size_t left = callbacks.size(); left > 0 && !now.interrupted; --left) {
      if (left > callbacks.size()) continue;  // removed by the callback before it
      try {
        call(*callbacks[left - 1]);
      } catch (const ::fenix::CommException&) {
        if (!now.interrupted && !squash) throw;
      }
    }
  } catch (...) {
    now.calls_back = false;
    throw;
  }
  now.calls_back = false;
  return !now.interrupted && sync_logs();
}

bool sync_logs() {
  if (settings().mlog_recovery != FENIX_MLOG_RECOVERY_INLINE_AUTOSYNC) return true;
  const Outcome outcome = tried("FENIX_MLOG_RECOVERY_INLINE_AUTOSYNC", [] {
    try {
      message_logs().sync_all();
    } catch (const Refused& refused) {
      log::warn(fmt::format("FENIX_MLOG_RECOVERY_INLINE_AUTOSYNC: {}", refused.what()));
      return refused.code();
    }
    return static_cast<int>(FENIX_SUCCESS);
  });
  return !outcome.recovered;
}

void throw_what_was_kept() {
  if (const std::exception_ptr kept = std::exchange(state().callbacks.thrown_before, nullptr))
    std::rethrow_exception(kept);
}

void call_all_back_before() {
  const ErrorsReturned to_the_callback;
  const Callbacks::List& callbacks = state().callbacks.before_recovery;
  for (std::size_t left = callbacks.size(); left > 0; --left) {
    if (left > callbacks.size()) continue;  // removed by the callback before it
    try {
      call(*callbacks[left - 1]);
    } catch (...) {
      state().callbacks.thrown_before = std::current_exception();
    }
  }
}

}  // namespace mend::fenix

using mend::fenix::is_active;
using mend::fenix::state;

int Fenix_Callback_register(void (*recover)(MPI_Comm, int, void*), void* callback_data) {
  if (!is_active("Fenix_Callback_register")) return FENIX_ERROR_UNINITIALIZED;
  if (recover == nullptr) return FENIX_ERROR_CALLBACK_NOT_REGISTERED;
  mend::fenix::add_callback(state().callbacks.after_recovery,
                            [=](MPI_Comm comm, int error) { recover(comm, error, callback_data); });
  return FENIX_SUCCESS;
}

int Fenix_Callback_pop() {
  if (!is_active("Fenix_Callback_pop")) return FENIX_ERROR_UNINITIALIZED;
  if (state().callbacks.after_recovery.empty()) return FENIX_ERROR_CALLBACK_NOT_REGISTERED;
  mend::fenix::take_back_callback(state().callbacks.after_recovery);
  return FENIX_SUCCESS;
}

int Fenix_Callback_invoke_all() {
  if (!is_active("Fenix_Callback_invoke_all")) return FENIX_ERROR_UNINITIALIZED;
  mend::fenix::call_all_back();
  return FENIX_SUCCESS;
}
