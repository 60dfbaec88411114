#include "base/death/crash_report.hpp"

#include "base/launch.hpp"
#include "base/telemetry/job_status.hpp"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace mend {
namespace {

struct Fault {
  int signal;
  std::array<char, 48> line{};  // prepared in advance: a process that has crashed can no longer rely on its memory
  struct sigaction before {};
  bool is_ours = false;
};

struct Reporter {
  std::string status_file;
  pid_t self = 0;
  std::array<Fault, 5> faults{{{SIGSEGV}, {SIGBUS}, {SIGFPE}, {SIGILL}, {SIGABRT}}};
};

// Used before main, in any order of initialisation, and never destroyed: a process may crash while it exits.
Reporter& reporter() {
  static Reporter* const instance = std::make_unique<Reporter>().release();
  return *instance;
}

void report(int signal, siginfo_t* info, void*) {
  Reporter& own = reporter();
  for (Fault& fault : own.faults) {
    if (fault.signal != signal) continue;
    if (::getpid() == own.self) job_status::detail::append_to(own.status_file.c_str(), fault.line.data());
    ::sigaction(signal, &fault.before, nullptr);
    fault.is_ours = false;
    // A signal that was sent is raised again, and arrives when this handler returns. A fault recurs when the program
    // repeats the faulty instruction.
    if (info->si_code <= 0) ::raise(signal);
  }
}

}  // namespace

void report_crashes(CrashStage stage) {
  const char* path = std::getenv(job_status::environment_variable);
  if (path == nullptr) return;
  Reporter& own = reporter();
  own.status_file = path;
  own.self = ::getpid();
  const std::uint32_t process = launch::self().value_or(ProcessId{0}).value;
  for (Fault& fault : own.faults) {
    char* const line = fault.line.data();
    if (stage == CrashStage::late) {
      std::snprintf(line, fault.line.size(), "crashed %d\n", fault.signal);
    } else {
      std::snprintf(line, fault.line.size(), "crashed-early %d %d %u\n", fault.signal, own.self, process);
    }
    if (fault.is_ours) continue;
    struct sigaction action {};
    action.sa_sigaction = report;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(fault.signal, nullptr, &fault.before);
    if (fault.before.sa_handler == SIG_IGN) continue;
    fault.is_ours = ::sigaction(fault.signal, &action, nullptr) == 0;
  }
}

void stop_reporting_crashes() {
  for (Fault& fault : reporter().faults) {
    struct sigaction now {};
    ::sigaction(fault.signal, nullptr, &now);
    // Another handler is installed, and may call this one.
    if (!fault.is_ours || now.sa_sigaction != report) continue;
    ::sigaction(fault.signal, &fault.before, nullptr);
    fault.is_ours = false;
  }
}

}  // namespace mend
