#include "framework/process/own_death.hpp"

#include "base/death_cause.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "detector/runtime_witness.hpp"

#include <fmt/format.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <utility>

namespace mend {
namespace {

std::atomic<bool> concerns_others = false;
ProcessId self_id;
pid_t self_pid = 0;
std::terminate_handler terminate_before = nullptr;

void tell(DeathCause cause) {
  const bool is_forked = ::getpid() != self_pid;
  if (!is_forked && concerns_others.exchange(false)) RuntimeWitness().tell_own_cause(self_id, cause);
}

void on_exit_of_process(int status, void* /*unused*/) {
  tell({DeathCause::Kind::exit, static_cast<std::int32_t>(status & 0xff)});
}

bool is_terminated_by_process_failure() {
  try {
    if (const auto error = std::current_exception()) std::rethrow_exception(error);
  } catch (const ProcessFailure&) {
    return true;
  } catch (...) {
    return false;
  }
  return false;
}

[[noreturn]] void on_terminate() {
  if (concerns_others && is_terminated_by_process_failure()) {
    log::error(
        fmt::format("process {} ends: a process failure was thrown out of a destructor or another noexcept function "
                    "(std::terminate): catch mend::ProcessFailure there; the next call throws it again",
                    self_id.value));
    tell({DeathCause::Kind::terminate, 0});
  }
  if (terminate_before != nullptr) terminate_before();
  std::abort();
}

}  // namespace

void announce_own_death(ProcessId self) {
  self_id = self;
  self_pid = ::getpid();
  concerns_others = true;
  ::on_exit(on_exit_of_process, nullptr);
  terminate_before = std::set_terminate(on_terminate);
}

void keep_own_death_to_oneself() { concerns_others = false; }

}  // namespace mend
