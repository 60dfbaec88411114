#include "base/death/death_cause.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>

namespace mend {

bool DeathCause::is_fault_of_program() const {
  switch (kind) {
    case Kind::exit:
    case Kind::left:
    case Kind::terminate:
    case Kind::replaced: return true;
    case Kind::signal:
      return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGABRT ||
             number == SIGTRAP || number == SIGSYS;
    default: return false;
  }
}

DeathCause DeathCause::of_wait_status(int status) {
  return WIFSIGNALED(status) ? DeathCause{Kind::signal, WTERMSIG(status)} : DeathCause{Kind::left, WEXITSTATUS(status)};
}

bool DeathCause::is_own_word() const {
  return kind == Kind::silence || kind == Kind::stuck || kind == Kind::terminate || kind == Kind::exit ||
         kind == Kind::replaced;
}

std::string DeathCause::to_string() const {
  switch (kind) {
    case Kind::signal: {
      const char* name = sigabbrev_np(number);
      return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
    }
    case Kind::exit: return fmt::format("exit({})", number);
    case Kind::left: return number < 0 ? "_exit" : fmt::format("exited with code {}", number);
    case Kind::silence: return fmt::format("silent for {} ms", number);
    case Kind::stuck: return fmt::format("stuck in the MPI library for {} s", number / 1000);
    case Kind::terminate: return "a process failure was thrown out of a destructor or another noexcept function";
    case Kind::replaced: return "replaced by another program, exec";
    default: return "";
  }
}

}  // namespace mend
