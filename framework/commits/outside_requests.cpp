#include "framework/commits/outside_requests.hpp"

#include "base/telemetry/log.hpp"
#include "transport/mpi.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <utility>

namespace mend {
namespace {

std::atomic<bool> was_signalled{false};
std::atomic<bool> launcher_asks{false};

/// The launcher's daemon, the parent of a process that was launched, sends SIGTERM only to end the job, as on Ctrl-C.
void on_sigterm(int signal, siginfo_t* info, void* /*context*/) {
  const bool is_the_end = info->si_code <= 0 && info->si_pid == ::getppid();
  if (!was_signalled.exchange(true) && !is_the_end) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void OutsideRequests::heed_sigterm() {
  struct sigaction before {};
  if (::sigaction(SIGTERM, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) return;
  struct sigaction ours {};
  ours.sa_sigaction = on_sigterm;
  ours.sa_flags = SA_RESTART | SA_SIGINFO;
  if (::sigaction(SIGTERM, &ours, nullptr) == 0) board::mine().heeds_sigterm = 1;
}

void OutsideRequests::heed_launcher() {
  struct sigaction before {};
  if (::sigaction(SIGURG, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) return;
  struct sigaction ours {};
  ours.sa_handler = [](int) { launcher_asks = true; };
  ours.sa_flags = SA_RESTART;
  ::sigaction(SIGURG, &ours, nullptr);
}

board::Leave OutsideRequests::asked_to_leave() const {
  const auto by_launcher = static_cast<board::Leave>(board::requests().leave.load(std::memory_order_relaxed));
  if (by_launcher != board::Leave::no) return by_launcher;
  if (launcher_asks.load(std::memory_order_relaxed)) return board::Leave::launcher;
  return was_signalled.load(std::memory_order_relaxed) ? board::Leave::signal_to_rank : board::Leave::no;
}

/// On a machine without `mend run`, no request is counted, also after one that others have told of.
bool OutsideRequests::asks_for_version() const { return board::requests().writes > writes_done_; }

bool OutsideRequests::any() const {
  if (leaves_ || is_closed_) return false;
  return asked_to_leave() != board::Leave::no || asks_for_version();
}

bool OutsideRequests::any_is_new() const {
  if (leaves_ || is_closed_) return false;
  return asked_to_leave() > leave_ || asks_for_version();
}

void OutsideRequests::tell(MPI_Comm comm) {
  std::array<std::uint32_t, 3> said{static_cast<std::uint32_t>(asked_to_leave()), board::requests().writes,
                                    looks_ ? 1U : 0U};
  call_mpi([&] { return MPI_Allreduce(MPI_IN_PLACE, said.data(), 3, MPI_UINT32_T, MPI_MAX, comm); }, "MPI_Allreduce");
  leave_ = static_cast<board::Leave>(said[0]);
  writes_ = said[1];
  all_look_ = said[2] != 0;
}

OutsideRequests::Next OutsideRequests::committed(Version version, bool on_disk, bool speaks) {
  hear(writes_);
  if (leave_ == board::Leave::no || is_closed_) return Next::go_on;
  sentence_ = fmt::format("the job has left in time ({})", board::describe(leave_));
  if (on_disk)
    sentence_ += fmt::format("; version {} is on disk: start again with --mend-disk={}", version.value, disk_.string());
  if (all_look_) {
    leaves_ = true;
    return Next::go_on;
  }
  if (on_disk) return Next::end;
  if (speaks && !std::exchange(has_warned_, true)) {
    log::warn(fmt::format("the job is asked to leave ({}) and goes on: {}, and the program does not ask should_exit()",
                          board::describe(leave_),
                          disk_.empty() ? "nothing is on disk (--mend-disk)" : "the disk cannot be written"));
  }
  return Next::go_on;
}

bool OutsideRequests::should_exit() {
  looks_ = true;
  was_told_ = was_told_ || leaves_;
  return leaves_;
}

}  // namespace mend
