#include "detector/service.hpp"

#include "base/death/fail_stop.hpp"
#include "base/error.hpp"
#include "base/launch.hpp"
#include "base/telemetry/job_board.hpp"
#include "base/telemetry/trace.hpp"
#include "base/thread.hpp"
#include "detector/local/last_words.hpp"
#include "detector/local/scheduler_slice.hpp"
#include "detector/wire.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <future>
#include <thread>
#include <tuple>
#include <utility>

namespace mend::detector {
namespace {

constexpr Time far_away = std::chrono::hours(24 * 365 * 100);
constexpr const char* thread_name = "mend-control";
/// The kernel is asked this often, and for this long, how a process has ended. It knows once the daemon has waited for
/// the process.
constexpr Time question_period = std::chrono::milliseconds(2);
constexpr Time most_time_for_questions = std::chrono::seconds(1);

Time time_now() { return Clock::now().time_since_epoch(); }

void count_heartbeat() { board::mine().heartbeats.fetch_add(1, std::memory_order_relaxed); }

/// An inquiry connects one process with all others for some time. Raises the limit of open files if needed.
void make_room_for(std::size_t connections) {
  constexpr std::size_t others = 512;  // for the application and MPI
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= connections + others) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, connections + others);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// Returns true if the lifeline of `process` has ended because it called exec. Waits up to 5 ms, because the kernel
/// closes the files of a process before it shows its new program.
bool becomes_another_program(const LocalProcess& process) {
  constexpr std::chrono::milliseconds longest{5};
  const auto until = Clock::now() + longest;
  while (!process.is_gone() && Clock::now() < until) {
    if (process.runs_another_program()) return true;
    std::this_thread::yield();
  }
  return false;
}

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

Service::Service(ProcessId self, transport::Ipv4 host, const Timing& timing, RuntimeWitness& runtime,
                 const StallLimits& stalls)
    : self_(self),
      runtime_(runtime),
      network_(self, host, std::chrono::duration_cast<Clock::duration>(timing.delta / 8),
               {[this](ProcessId from, std::span<const std::byte> bytes) { arrived(from, bytes); },
                [this](ProcessId peer) { broken(peer); }}),
      lifeline_([this](ProcessId process) { network_.post([this, process] { told_by_kernel(process); }); }),
      detector_(self, timing),
      stalls_(self, stalls,
              {[this](ProcessId to, std::span<const std::byte> bytes) { network_.send(to, bytes); },
               [this] { ended_ = true; }, [this](ProcessId process, Time held) { hold_stuck_dead(process, held); }}),
      status_([this](ProcessId to, std::span<const std::byte> bytes) { network_.send(to, bytes); }) {}

Service::~Service() {
  if (!thread_.joinable()) return;
  runtime_.on_death({});
  network_.post([this] { stopping_ = true; });
  thread_.join();
}

void Service::start(const std::map<ProcessId, Peer>& peers) {
  make_room_for(2 * peers.size());
  own_node_ = peers.at(self_).node;
  for (const auto& [process, peer] : peers) meet(process, peer);
  network_.meet(addresses_);
  thread_ = start_thread(thread_name, [this] { run(); });
  board::mine().asks_others = 1;
  runtime_.on_death([this](ProcessId process) { network_.post([this, process] { told_by_runtime(process); }); });
}

void Service::add(ProcessId process, const Peer& peer) {
  network_.post([this, process, peer] {
    meet(process, peer);
    network_.meet(addresses_);
  });
}

/// A process that this one cannot kill is treated as if it were on another machine.
void Service::meet(ProcessId process, const Peer& peer) {
  NodeId node = peer.node;
  if (process != self_ && node == own_node_) {
    auto found = LocalProcess::find(peer.identity);
    if (found) {
      auto lifeline = NeighbourLifeline::open(peer.identity.pid, peer.lifeline);
      if (found->is_gone()) lifeline.reset();  // its number may belong to another process by now
      neighbours_.emplace(process, Neighbour{std::move(*found), std::move(lifeline)});
    } else {
      node = NodeId{~process.value};
      if (peer.identity.can_be_seen()) stillborn_.insert(process);
    }
  }
  if (nodes_.size() <= process.value) nodes_.resize(process.value + 1);
  nodes_[process.value] = node;
  addresses_[process] = peer.address;
}

void Service::enter(Membership membership) {
  network_.post([this, membership = std::move(membership)] {
    if (ended_) return;
    for (const ProcessId gone : membership.left_out.members()) network_.drop(gone);  // what was sent to it since
    std::erase_if(neighbours_, [&](const auto& one) {
      return membership.left_out.contains(one.first) && !unexplained_.contains(one.first) &&
             one.second.process.is_gone();
    });
    detector_.enter(membership, nodes_, time_now(), actions_);
    stalls_.enter(membership.members());
    if (!stillborn_.empty()) detector_.witness(std::exchange(stillborn_, {}), Told::nobody, time_now(), actions_);
    perform();
    look_at_lifeline();
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

void Service::release_dead_processes() {
  ask([this] {
    for (const auto& [process, neighbour] : neighbours_) {
      if (!let_go_.contains(process) && neighbour.process.is_gone()) {
        let_go_.insert(process);
        runtime_.tell_library(process);
      }
    }
  });
}

Service::Counters Service::counters() {
  Counters copy;
  ask([&] {
    copy = counters_;
    copy.network = network_.counters();
    copy.delta = detector_.delta();
    copy.suspicions = detector_.suspicions();
    copy.longest_silence = detector_.longest_silence();
    const auto not_told = difference(detector_.known_dead(), told_).members();
    copy.unseen = static_cast<std::size_t>(
        std::ranges::count_if(not_told, [&](ProcessId process) { return runtime_.tells_of(process); }));
  });
  return copy;
}

// ---- The control thread

void Service::run() {
  request_short_scheduler_slice();
  while (!stopping_) turn();
}

/// Messages that have arrived are handled before the time is read: they may have come while this thread could not run.
void Service::turn() {
  const Time due = detector_.next_deadline().value_or(time_now() + far_away);
  const Time next_question = unexplained_.empty() ? due : time_now() + question_period;
  const Time deadline = std::min({due, stalls_.next_deadline(), next_question});
  network_.run_one_until(Clock::time_point(std::chrono::duration_cast<Clock::duration>(deadline)));
  network_.drain();
  if (!network_.has_its_descriptors()) {
    stop_job(fmt::format(
        "process {} has closed descriptors that belong to mend and to the MPI library: close only what the program has "
        "opened",
        launch::self().value_or(ProcessId{}).value));
  }
  const Time now = time_now();
  if (now >= stalls_.next_deadline()) stalls_.tick(now);
  if (const auto look = board::take_look()) status_.ask(*look, living_others());
  ask_for_causes(now);
  if (now < due) return;
  if (emitter_is_kept_waiting(now)) detector_.excuse_emitter(now);
  detector_.tick(now, actions_);
  perform();
  network_.retry();
}

/// Call it when the emitter is about to be suspected. Returns true if the emitter is on this machine and could run, but
/// has no processor.
bool Service::emitter_is_kept_waiting(Time now) const {
  if (!detector_.emitter_is_overdue(now)) return false;
  const auto neighbour = neighbours_.find(detector_.emitter());
  return neighbour != neighbours_.end() && neighbour->second.process.is_kept_waiting(thread_name);
}

ProcessSet Service::living_others() const {
  ProcessSet gone = detector_.membership().left_out;
  gone.insert(detector_.known_dead());
  gone.insert(self_);
  return difference(ProcessSet::first(detector_.membership().processes), gone);
}

void Service::arrived(ProcessId from, std::span<const std::byte> bytes) {
  Message message;
  try {
    if (is_about_status(bytes)) return status_.arrived(from, bytes);
    if (is_about_stalls(bytes)) return stalls_.arrived(from, bytes, time_now());
    message = read(bytes);
  } catch (const EnvironmentError&) {
    ++counters_.garbage;
    return;
  }
  message.kind == Message::Kind::heartbeat ? count_heartbeat() : trace::message_from(from, trace::Of::detector);
  if (message.epoch < detector_.membership().epoch) ++counters_.old_messages;
  if (!detector_.receive(from, message, time_now(), actions_)) ++counters_.garbage;
  perform();
}

void Service::broken(ProcessId peer) {
  const auto neighbour = neighbours_.find(peer);
  if (neighbour != neighbours_.end() && neighbour->second.process.is_gone()) told_by_kernel(peer);
}

void Service::told_by_kernel(ProcessId process) {
  if (ended_) stalls_.died(ProcessSet{process});
  detector_.witness(ProcessSet{process}, Told::nobody, time_now(), actions_);
  perform();
}

void Service::told_by_runtime(ProcessId process) {
  told_.insert(process);
  if (ended_) stalls_.died(ProcessSet{process});
  detector_.witness(ProcessSet{process}, Told::everyone, time_now(), actions_);
  perform();
}

/// Carries out the actions of the detector. After the end, the others only need to know that this process lives.
/// Anything else would only report that they have left.
void Service::perform() {
  const Actions actions = std::exchange(actions_, {});
  for (const auto& [to, message] : actions.sends) {
    const bool heartbeat = message.kind == Message::Kind::heartbeat;
    if (ended_ && !heartbeat && message.kind != Message::Kind::answer) continue;
    // A broadcast may lead to a process that was found dead since; a link to it would try to connect for ever.
    if (message.kind == Message::Kind::deaths && detector_.known_dead().contains(to)) continue;
    heartbeat ? count_heartbeat() : trace::message_to(to, trace::Of::detector);
    for (const Message& part : split(message)) {
      outgoing_.clear();
      write(part, outgoing_);
      heartbeat ? network_.pulse(to, outgoing_) : network_.send(to, outgoing_);
    }
  }
  if (ended_) return;
  if (actions.fenced) leave("held dead by the others");
  if (actions.cut_off) leave("cut off from most of the others");
  const auto silence = std::chrono::duration_cast<std::chrono::milliseconds>(detector_.delta());
  for (const ProcessId process : actions.found_silent.members()) {
    trace::instant_later("silent", {{"process", process.value}});
    runtime_.tell_cause(process, {DeathCause::Kind::silence, static_cast<std::int32_t>(silence.count())});
  }
  hold_dead(actions.died);
}

void Service::hold_dead(const ProcessSet& died) {
  stalls_.died(died);
  for (const ProcessId process : died.members()) {
    trace::instant_later("dead", {{"process", process.value}});
    network_.drop(process);
    runtime_.report(process);
    if (!told_.contains(process)) runtime_.tell_library(process);
  }
  // The recovery does not wait for the cause.
  for (const ProcessId process : died.members()) {
    const auto neighbour = neighbours_.find(process);
    if (neighbour == neighbours_.end()) continue;
    if (becomes_another_program(neighbour->second.process))
      runtime_.tell_cause(process, {DeathCause::Kind::replaced, 0});
    neighbour->second.process.kill();
    unexplained_[process] = time_now() + most_time_for_questions;
  }
  if (!died.empty()) look_at_lifeline();
}

/// Declares a process dead that does not return from the MPI library. One of this machine is killed, so its death is
/// certain. Another one may live on: its control thread still answers inquiries.
void Service::hold_stuck_dead(ProcessId process, Time held) {
  if (ended_) return;
  const DeathCause cause{
      DeathCause::Kind::stuck,
      static_cast<std::int32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(held).count())};
  if (process == self_) {
    runtime_.tell_own_cause(self_, cause);
    leave("stuck in the MPI library");
  }
  runtime_.tell_cause(process, cause);
  if (neighbours_.contains(process)) {
    detector_.witness(ProcessSet{process}, Told::nobody, time_now(), actions_);
  } else {
    detector_.declare(ProcessSet{process}, time_now(), actions_);
  }
  perform();
}

/// The runtime reports how a process has ended to the processes of the same launch. For processes that were started
/// later, and to them, only the kernel reports it.
void Service::ask_for_causes(Time now) {
  if (ended_) unexplained_.clear();
  std::erase_if(unexplained_, [&](const auto& one) {
    const auto& [process, deadline] = one;
    const auto neighbour = neighbours_.find(process);
    if (neighbour == neighbours_.end() || runtime_.cause_of(process).is_known()) return true;
    const auto status = neighbour->second.process.exit_status();
    if (!status) return now >= deadline;
    const DeathCause cause = DeathCause::of_wait_status(*status);
    const bool others_are_told = runtime_.tells_of(process) || !speaks_for_machine();
    others_are_told ? runtime_.note_cause(process, cause) : runtime_.tell_cause(process, cause);
    return true;
  });
}

/// Returns true if this is the first process of its machine that is not known to be dead.
bool Service::speaks_for_machine() const {
  return std::ranges::none_of(
      neighbours_, [&](const auto& one) { return one.first < self_ && !detector_.known_dead().contains(one.first); });
}

/// Looks at the lifeline of the living neighbour before this process, or of the last one if there is none.
void Service::look_at_lifeline() {
  ProcessId before = self_;
  std::shared_ptr<const NeighbourLifeline> lifeline;
  for (const auto& [process, neighbour] : neighbours_) {
    if (!neighbour.lifeline || detector_.known_dead().contains(process)) continue;
    const bool best = process < self_ || !lifeline || before > self_;
    if (best) std::tie(before, lifeline) = std::tie(process, neighbour.lifeline);
  }
  lifeline_.look_at(before, lifeline);
}

/// Touches no lock, buffer or file.
void Service::leave(const char* why) {
  char line[128];
  const int length = std::snprintf(line, sizeof line, "mend[%u]: %s: this process ends\n", self_.value, why);
  write_last_words({line, static_cast<std::size_t>(length)});
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

}  // namespace mend::detector
