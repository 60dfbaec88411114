#include "jobs/doctor/held_signals.hpp"

#include <array>
#include <atomic>

namespace mend::jobs {
namespace {

constexpr std::array held{SIGHUP, SIGINT, SIGTERM};
std::atomic<int> that_came{0};
sigset_t held_before;
bool is_holding = false;

void note(int signal) { that_came = signal; }

}  // namespace

HeldSignals::HeldSignals() {
  sigset_t now;
  ::sigemptyset(&now);
  that_came = 0;
  for (const int signal : held) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    actions_.push_back(before);
    if (before.sa_handler == SIG_IGN) continue;  // nohup
    struct sigaction ours {};
    ours.sa_handler = note;
    ::sigaction(signal, &ours, nullptr);
    ::sigaddset(&now, signal);
  }
  ::sigprocmask(SIG_BLOCK, &now, &held_before);
  is_holding = true;
}

HeldSignals::~HeldSignals() {
  is_holding = false;
  for (std::size_t i = 0; i < held.size(); ++i) ::sigaction(held[i], &actions_[i], nullptr);
  ::sigprocmask(SIG_SETMASK, &held_before, nullptr);
}

std::optional<int> HeldSignals::come() {
  const int signal = that_came;
  return signal == 0 ? std::nullopt : std::optional(signal);
}

const sigset_t* HeldSignals::before() { return is_holding ? &held_before : nullptr; }

}  // namespace mend::jobs
