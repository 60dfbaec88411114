#include "framework/process/own_death.hpp"

#include "base/death/death_cause.hpp"
#include "base/error.hpp"
#include "base/telemetry/job_status.hpp"
#include "base/telemetry/log.hpp"
#include "base/thread.hpp"
#include "transport/library_function.hpp"
#include "framework/process/process_context.hpp"
#include "detector/local/runtime_witness.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <utility>

namespace mend {
namespace {

/// Returns true if this process must report its death: at the first call, and not in a process that the application has
/// forked.
bool is_first_word() {
  ProcessContext& context = process_context();
  return !context.is_forked() && context.death_concerns_others.exchange(false);
}

void tell(DeathCause cause) {
  if (is_first_word()) RuntimeWitness().tell_own_cause(process_context().self, cause);
}

/// Reports an _exit to the other processes. _exit may be called anywhere, also in a signal handler, but only a thread
/// can report to the runtime. So a thread waits for the exit code, and _exit waits for that thread for a limited time.
class ExitTeller {
 public:
  void start() {
    asked_ = ::eventfd(0, EFD_CLOEXEC);
    told_ = ::eventfd(0, EFD_CLOEXEC);
    if (asked_ < 0 || told_ < 0) return;
    start_thread("mend exit", [this] {
      std::uint64_t status = 0;
      while (::read(asked_, &status, sizeof status) < 0 && errno == EINTR) {
      }
      RuntimeWitness().tell_own_cause(process_context().self,
                                      {DeathCause::Kind::left, static_cast<std::int32_t>(status & 0xff)});
      signal(told_, 1);
    }).detach();
  }

  /// Safe in a signal handler.
  void tell(int status) const {
    if (asked_ < 0 || told_ < 0 || !is_first_word()) return;
    constexpr std::uint64_t not_zero = 0x100;  // a value of 0 would not wake the thread
    signal(asked_, not_zero | static_cast<std::uint64_t>(status & 0xff));
    pollfd answer{.fd = told_, .events = POLLIN, .revents = 0};
    constexpr int patience_ms = 500;
    ::poll(&answer, 1, patience_ms);
  }

 private:
  static void signal(int event, std::uint64_t number) {
    [[maybe_unused]] const auto written = ::write(event, &number, sizeof number);
  }

  int asked_ = -1;
  int told_ = -1;
};

ExitTeller exit_teller;

using Exit = void (*)(int);

/// Reports the exit to the launcher and to the other processes, if they must know of it.
void tell_quick_exit(int status) {
  exit_teller.tell(status);
  if (!process_context().is_forked()) job_status::left_quickly(status & 0xff);
}

[[noreturn]] void end_at_once(int status) {
  tell_quick_exit(status);
  for (;;) ::syscall(SYS_exit_group, status);
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
  if (process_context().death_concerns_others && is_terminated_by_process_failure()) {
    log::error(
        fmt::format("process {} ends: a process failure was thrown out of a destructor or another noexcept function "
                    "(std::terminate): catch mend::ProcessFailure there; the next call throws it again",
                    process_context().self.value));
    tell({DeathCause::Kind::terminate, 0});
  }
  if (process_context().terminate_before != nullptr) process_context().terminate_before();
  std::abort();
}

}  // namespace

void announce_own_death(ProcessId self) {
  ProcessContext& context = process_context();
  context.self = self;
  context.death_concerns_others = true;
  ::on_exit(on_exit_of_process, nullptr);
  exit_teller.start();
  context.terminate_before = std::set_terminate(on_terminate);
}

void stop_announcing_own_death() { process_context().death_concerns_others = false; }

}  // namespace mend

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the system's
// names

extern "C" void _exit(int status) { mend::end_at_once(status); }
extern "C" void _Exit(int status) noexcept { mend::end_at_once(status); }

extern "C" void quick_exit(int status) noexcept {
  mend::tell_quick_exit(status);
  static const auto library = mend::of_the_library<mend::Exit>("quick_exit");
  library(status);
  mend::end_at_once(status);
}

// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
