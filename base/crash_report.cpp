#include "base/crash_report.hpp"

#include "base/job_status.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>

namespace mend {
namespace {

struct Fault {
  int signal;
  std::string line{};  // made beforehand: a process that has crashed can no longer rely on its memory
  struct sigaction before {};
};

std::string status_file;
std::array<Fault, 5> faults{{{SIGSEGV}, {SIGBUS}, {SIGFPE}, {SIGILL}, {SIGABRT}}};

void report(int signal, siginfo_t* info, void*) {
  for (const Fault& fault : faults) {
    if (fault.signal != signal) continue;
    job_status::detail::append_to(status_file.c_str(), fault.line);
    ::sigaction(signal, &fault.before, nullptr);
    // Comes when this returns; what the program did wrong comes by itself, as it does it again.
    if (info->si_code <= 0) ::raise(signal);
  }
}

}  // namespace

void report_crashes() {
  const char* path = std::getenv(job_status::environment_variable);
  if (path == nullptr) return;
  status_file = path;
  for (Fault& fault : faults) {
    fault.line = "crashed " + std::to_string(fault.signal) + "\n";
    struct sigaction action {};
    action.sa_sigaction = report;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(fault.signal, nullptr, &fault.before);
    if (fault.before.sa_handler != SIG_IGN) ::sigaction(fault.signal, &action, nullptr);
  }
}

}  // namespace mend
