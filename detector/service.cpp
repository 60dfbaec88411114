#include "detector/service.hpp"

#include "base/error.hpp"
#include "detector/wire.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <utility>

namespace mend::detector {
namespace {

constexpr Time never = std::chrono::hours(24 * 365 * 100);
constexpr int most_patience = 10;  // times delta
constexpr const char* thread_name = "mend-control";

Time time_now() { return Clock::now().time_since_epoch(); }

/// Asks the scheduler for short turns (Linux 6.12 and later): a thread that never runs for long is let run sooner.
/// Where that is not known, nothing changes.
void ask_for_short_turns() {
  struct {
    std::uint32_t size = 48;
    std::uint32_t policy = SCHED_OTHER;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 100'000;  // nanoseconds, the least there is
    std::uint64_t deadline = 0;
    std::uint64_t period = 0;
  } attributes;
  attributes.nice = ::getpriority(PRIO_PROCESS, 0);
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/// Signals are the application's: its own thread takes them.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Time measure_wake_up_delay() {
  constexpr Time nap = std::chrono::milliseconds(1);
  Time worst{0};
  for (int i = 0; i < 10; ++i) {
    const Time begin = time_now();
    std::this_thread::sleep_for(nap);
    worst = std::max(worst, time_now() - begin - nap);
  }
  return worst;
}

Time safe_delta(Time eta, Time wake_up_delay) { return eta + 4 * wake_up_delay; }

// ---- The owner's side

Service::Service(ProcessId self, transport::Ipv4 host, const Timing& timing, RuntimeWitness& runtime)
    : self_(self),
      timing_(timing),
      runtime_(runtime),
      network_(self, host,
               {[this](ProcessId from, std::span<const std::byte> bytes) { arrived(from, bytes); },
                [this](ProcessId peer) { broken(peer); }}),
      ring_(self, timing) {}

Service::~Service() {
  if (!thread_.joinable()) return;
  runtime_.on_death({});
  network_.post([this] { stopping_ = true; });
  thread_.join();
}

void Service::start(const std::map<ProcessId, Peer>& peers) {
  std::map<ProcessId, transport::ControlAddress> addresses;
  for (const auto& [process, peer] : peers) addresses.emplace(process, peer.address);
  network_.meet(std::move(addresses));
  for (const auto& [process, peer] : peers) {
    if (process == self_ || peer.node != peers.at(self_).node) continue;
    if (auto found = LocalProcess::find(peer.identity)) neighbours_.emplace(process, std::move(*found));
  }
  const SignalsBlocked in_the_thread_to_be;
  thread_ = std::thread([this] { run(); });
  ::pthread_setname_np(thread_.native_handle(), thread_name);
  runtime_.on_death([this](ProcessId process) { network_.post([this, process] { told_by_runtime(process); }); });
}

void Service::enter(Membership membership) {
  network_.post([this, membership = std::move(membership)] {
    if (ended_) return;
    membership_ = membership;
    held_back_ = difference(held_back_, membership.left_out);
    ring_.enter(membership, time_now(), actions_);
    perform();
  });
}

template <class Work>
void Service::ask(Work work) {
  if (!thread_.joinable()) return work();
  std::promise<void> done;
  network_.post([&] {
    work();
    done.set_value();
  });
  done.get_future().wait();
}

void Service::end() {
  ask([this] { ended_ = true; });
}

Service::Counters Service::counters() {
  Counters copy;
  ask([&] {
    copy = counters_;
    copy.network = network_.counters();
    copy.delta = ring_.delta();
    copy.unseen = difference(ring_.known_dead(), told_).size();
  });
  return copy;
}

// ---- The control thread

void Service::run() {
  ask_for_short_turns();
  while (!stopping_) turn();
}

/// What has arrived is dealt with before the time is looked at: it may have come while this thread could not run.
void Service::turn() {
  const Time deadline = next_deadline();
  network_.run_one_until(Clock::time_point(std::chrono::duration_cast<Clock::duration>(deadline)));
  const Time now = time_now();
  const bool was_kept_from_running = now > deadline + timing_.eta / 2;
  if (was_kept_from_running) ring_.be_patient(now - deadline, now);
  network_.drain();
  if (now < deadline) return;
  if (emitter_is_kept_waiting(now)) ring_.be_patient(Time{0}, now);
  ring_.tick(now, actions_);
  if (!ended_) counters_.suspicions += actions_.died.size();
  perform();
  network_.retry();
  if (!held_back_.empty() && now >= leaves_at_ && !ended_) leave("cut off from most of the others");
}

/// When the emitter is about to be held dead: whether its machine, which is this one, only does not let it run.
bool Service::emitter_is_kept_waiting(Time now) const {
  if (now < ring_.suspects_at() || now > heard_at_ + most_patience * timing_.delta) return false;
  const auto neighbour = neighbours_.find(ring_.emitter());
  return neighbour != neighbours_.end() && neighbour->second.is_kept_waiting(thread_name);
}

Time Service::next_deadline() const {
  const Time ring = ring_.next_deadline().value_or(never);
  return held_back_.empty() ? ring : std::min(ring, leaves_at_);
}

void Service::arrived(ProcessId from, std::span<const std::byte> bytes) {
  Message message;
  try {
    message = read(bytes);
  } catch (const EnvironmentError&) {
    ++counters_.garbage;
    return;
  }
  const Time now = time_now();
  if (message.epoch < membership_.epoch) ++counters_.old_messages;
  if (message.kind == Message::Kind::heartbeat && from == ring_.emitter()) heard(from, now);
  ring_.receive(from, message, now, actions_);
  perform();
}

/// Learns how long the emitter may be silent without being dead.
void Service::heard(ProcessId emitter, Time now) {
  if (std::exchange(heard_of_, emitter) == emitter && heard_at_ > Time{0}) {
    const Time silence = now - heard_at_;
    counters_.longest_silence = std::max(counters_.longest_silence, silence);
    silence_ = std::min(std::max(silence, silence_ - silence_ / 64), most_patience * timing_.delta / 3);
    ring_.set_delta(std::max(3 * silence_, timing_.delta));
  }
  heard_at_ = now;
}

void Service::broken(ProcessId peer) {
  const auto neighbour = neighbours_.find(peer);
  if (neighbour == neighbours_.end() || !neighbour->second.is_gone()) return;
  ring_.witness(ProcessSet{peer}, Told::nobody, time_now(), actions_);
  perform();
}

void Service::told_by_runtime(ProcessId process) {
  told_.insert(process);
  ring_.witness(ProcessSet{process}, Told::everyone, time_now(), actions_);
  perform();
  judge();
}

/// Does what the ring has asked for. After the end only heartbeats go out: the others need to know that this one
/// lives, and whatever else it has to say is that they have left.
void Service::perform() {
  const Actions actions = std::exchange(actions_, {});
  for (const auto& [to, message] : actions.sends) {
    const bool heartbeat = message.kind == Message::Kind::heartbeat;
    if (ended_ && !heartbeat) continue;
    outgoing_.clear();
    write(message, outgoing_);
    heartbeat ? network_.pulse(to, outgoing_) : network_.send(to, outgoing_);
  }
  if (ended_) return;
  if (!actions.died.empty()) hold_dead(actions.died);
  if (actions.fenced) leave("held dead by the others");
}

// ---- Deaths

bool Service::is_confirmed(ProcessId process) const { return told_.contains(process) || neighbours_.contains(process); }

void Service::hold_dead(const ProcessSet& died) {
  for (const ProcessId process : died.members()) {
    network_.drop(process);
    if (const auto neighbour = neighbours_.find(process); neighbour != neighbours_.end()) neighbour->second.kill();
  }
  held_back_.insert(died);
  judge();
}

/// Hands over whom there is no doubt about.
void Service::judge() {
  if (held_back_.empty()) return;
  const bool in_doubt = outnumbered();
  ProcessSet certain;
  for (const ProcessId process : held_back_.members()) {
    if (!in_doubt || is_confirmed(process)) certain.insert(process);
  }
  if (leaves_at_ == Time{0}) leaves_at_ = time_now() + timing_.delta;
  held_back_ = difference(held_back_, certain);
  if (held_back_.empty()) leaves_at_ = Time{0};
  hand_over(certain);
}

/// Whether more have fallen silent, without a confirmation of their death, than are heard of.
bool Service::outnumbered() const {
  std::size_t silent = 0;
  std::size_t living = 0;
  bool lowest_is_silent = false;
  for (std::uint32_t i = 0; i < membership_.processes; ++i) {
    const ProcessId process{i};
    if (!membership_.includes(process)) continue;
    const bool dead = ring_.known_dead().contains(process);
    if (dead && is_confirmed(process)) continue;
    if (silent + living == 0) lowest_is_silent = dead;
    ++(dead ? silent : living);
  }
  return silent > living || (silent == living && lowest_is_silent);
}

void Service::hand_over(const ProcessSet& dead) {
  for (const ProcessId process : dead.members()) {
    runtime_.report(process);
    if (!told_.contains(process)) runtime_.tell_library(process);
  }
}

/// Touches nothing any more: no lock, no buffer, no file.
void Service::leave(const char* why) {
  char line[128];
  const int length = std::snprintf(line, sizeof line, "mend[%u]: %s: this process ends\n", self_.value, why);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line, static_cast<std::size_t>(length));
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

}  // namespace mend::detector
