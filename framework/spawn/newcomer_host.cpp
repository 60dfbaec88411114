#include "framework/spawn/newcomer_host.hpp"

#include "base/death/fail_stop.hpp"
#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "base/telemetry/library_wait.hpp"
#include "base/telemetry/log.hpp"
#include "base/thread.hpp"
#include "framework/recovery/core/recovery_core.hpp"
#include "framework/spawn/newcomer_handshake.hpp"
#include "framework/spawn/process_starter.hpp"
#include "transport/interruptible_pmix.hpp"
#include "transport/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <stop_token>
#include <thread>
#include <utility>

namespace mend {
namespace {

using transport::Connection;

constexpr int most_failures = 3;

/// Accepts the connection of the newcomer, which has `port`. For the host.
Communicator accept(const std::string& port) {
  MPI_Comm made = MPI_COMM_NULL;
  check_mpi(MPI_Comm_accept(port.c_str(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &made), "MPI_Comm_accept");
  return returning_errors(made);
}

std::string open_port() {
  std::array<char, MPI_MAX_PORT_NAME> name{};
  check_mpi(MPI_Open_port(MPI_INFO_NULL, name.data()), "MPI_Open_port");
  return name.data();
}

/// Returns true if `attempt` has succeeded. Deaths may interrupt it, and may cause other errors of the library.
template <class Attempt>
bool succeeds(Attempt attempt) {
  try {
    attempt();
    return true;
  } catch (const ProcessFailure& failure) {
    log::debug(fmt::format("admitting a newcomer was interrupted: {}", failure.what()));
  } catch (const std::exception& error) {
    log::debug(fmt::format("admitting a newcomer failed: {}", error.what()));
  }
  return false;
}

/// Returns the step of the turn of all members when they have settled, as they do next: that takes two steps.
std::uint32_t step_when_settled() { return current_library_wait().turn.step + 2; }

int rank_of(ProcessId process, const EpochState& epoch_state) {
  return static_cast<int>(std::ranges::find(epoch_state.members, process) - epoch_state.members.begin());
}

}  // namespace

/// The runtime's answers about the processes that it was to start. They may come when the host object is gone.
struct NewcomerHost::StartResults {
  std::mutex mutex;
  std::map<ProcessId, StartResult> told;

  std::optional<StartResult> take(ProcessId process) {
    const std::lock_guard lock(mutex);
    const auto found = told.find(process);
    if (found == told.end()) return std::nullopt;
    return told.extract(found).mapped();
  }
};

/// Ends the host's wait when the newcomer has died, and kills the newcomer when its time is up.
class NewcomerHost::Patience {
 public:
  Patience(Guest& guest, RuntimeWitness& witness, Clock::time_point until)
      : connection_(*guest.connection),
        timer_(start_thread<std::jthread>("mend-patience", [&guest, until](const std::stop_token& stop) {
          const bool in_time = sleep_unless_stopped(stop, until - Clock::now());
          if (!in_time && guest.process) guest.process->kill();  // this ends the connection
        })) {
    connection_.on_end([this, &witness, process = guest.who.process] {
      waits_.break_off();
      witness.tell_library(process);
    });
  }
  ~Patience() { connection_.on_end({}); }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

 private:
  Connection& connection_;
  transport::InterruptiblePmix waits_;
  std::jthread timer_;
};

void NewcomerHost::Candidate::runs_as(const std::optional<detector::LocalIdentity>& identity) {
  if (process) return;
  if (auto found = identity ? detector::LocalProcess::find(*identity) : std::nullopt) {
    process.emplace(std::move(*found));
  } else {
    has_died = true;
  }
}

NewcomerHost::NewcomerHost(ProcessId self, FailureDetector& detector, AgreementProvider& agreements,
                           LeftCommunicators& left, Seconds limit)
    : self_(self),
      detector_(detector),
      agreements_(agreements),
      left_(left),
      limit_(limit),
      start_results_(std::make_shared<StartResults>()) {}

NewcomerHost::~NewcomerHost() {
  patience_.reset();
  attendant_ = {};
  or_fail_stop([this] { take_start_results(); });  // to learn their process ids, so that they are killed
}

void NewcomerHost::start(const EpochState& epoch_state) {
  if (!parent_death_signal_) parent_death_signal_ = std::make_unique<ParentDeathSignal>();
  if (!listener_) listener_ = std::make_unique<transport::Listener>(detector_.host());
  next_ = std::max(next_, epoch_state.processes);
  const ProcessId process{next_++};
  start_process(process, transport::to_string(listener_->address()), parent_death_signal_->name(),
                [results = start_results_, process](const StartResult& result) {
                  const std::lock_guard lock(results->mutex);
                  results->told[process] = result;
                });
  waiting_[process];
}

/// Members are in ascending order, so a process that waited while a later one was admitted cannot join any more.
void NewcomerHost::forget_useless(const EpochState& epoch_state) {
  std::erase_if(waiting_,
                [&](const auto& entry) { return entry.first.value < epoch_state.processes || entry.second.is_gone(); });
}

void NewcomerHost::prepare(std::size_t count, const EpochState& epoch_state) {
  if (!detector_.at_work()) return;
  attendant_ = {};
  try {
    forget_useless(epoch_state);
    timeout_ = detector_.state().timeout;
    start_up_to(count, epoch_state);
    if (all_have_come()) return;
    attendant_ = start_thread<std::jthread>("mend-attendant", [this](const std::stop_token& stop) {
      try {
        attend(stop);
      } catch (const std::exception& error) {  // newcomers are then let in when they are needed
        log::warn(
            fmt::format("processes that are started in the background wait for their connection: {}", error.what()));
      }
    });
  } catch (const std::exception& error) {  // no process needs them yet
    log::warn(fmt::format("no process can be made ready to take over a rank: {}", error.what()));
  }
}

void NewcomerHost::start_up_to(std::size_t count, const EpochState& epoch_state) {
  while (waiting_.size() < count) start(epoch_state);
}

bool NewcomerHost::all_have_come() const {
  return std::ranges::all_of(waiting_, [](const auto& entry) { return entry.second.connection != nullptr; });
}

/// Lets in processes that have been started, before they are needed, and has them watched from then on. Ends those that
/// do not come in time.
void NewcomerHost::attend(const std::stop_token& stop) {
  constexpr std::chrono::milliseconds now_and_then{10};
  for (const auto until = deadline(); !all_have_come();) {
    if (sleep_unless_stopped(stop, now_and_then)) return;
    accept_callers();
    if (Clock::now() < until) continue;
    if (take_start_results()) log::warn(lateness());
    std::erase_if(waiting_, [](const auto& entry) { return !entry.second.connection; });
  }
}

/// Lets in processes that have connected. Each first says which process it is. If this process lacks something for one
/// of them, such as memory or a thread, only that one is turned away.
void NewcomerHost::accept_callers() {
  if (auto connection = listener_->poll()) callers_.push_back(std::move(connection));
  for (auto& caller : std::exchange(callers_, {})) {
    const auto said = caller->poll();
    if (said) {
      hear(*said, std::move(caller));
    } else if (!caller->ended()) {
      callers_.push_back(std::move(caller));
    }
  }
}

/// Records which process a caller is. The process counts as arrived if this process waits for it.
void NewcomerHost::hear(std::span<const std::byte> said, std::unique_ptr<Connection> caller) {
  Call call;
  if (said.size() != sizeof call) return;
  std::memcpy(static_cast<void*>(&call), said.data(), sizeof call);
  const auto expected = waiting_.find(call.process);
  if (expected == waiting_.end() || expected->second.connection) return;
  Candidate& newcomer = expected->second;
  newcomer.connection = std::move(caller);
  newcomer.called_as = call.identity;
  try {
    newcomer.runs_as(call.identity);
    if (auto there = detector::LocalProcess::find(call.identity)) {
      newcomer.heartbeat =
          std::make_unique<NewcomerHeartbeat>(call.process, *newcomer.connection, std::move(*there), timeout_);
    }
  } catch (const std::exception& error) {
    log::warn(fmt::format("a process was started to take over a rank, and cannot be watched: {}", error.what()));
    ++failures_;
    waiting_.erase(expected);
  }
}

/// Takes over the runtime's answers about the started processes. Returns false if the runtime cannot start a process.
bool NewcomerHost::take_start_results() {
  bool all_start = true;
  for (auto expected = waiting_.begin(); expected != waiting_.end();) {
    const auto result = start_results_->take(expected->first);
    if (result && !result->obstacle.empty()) {
      log::warn(fmt::format("the runtime cannot start a process to take over a rank: {}", result->obstacle));
      all_start = false;
      expected = waiting_.erase(expected);
      continue;
    }
    if (result) {
      const auto pid = pid_of(*result);
      expected->second.runs_as(pid ? detector::LocalIdentity::of(*pid) : std::nullopt);
    }
    ++expected;
  }
  return all_start;
}

/// Returns the next newcomer that has connected; null if none comes. The time that it has begins here, because it may
/// have waited in the background. A process that is started when this time is over, or because none is left that could
/// come, has time of its own.
std::unique_ptr<NewcomerHost::Guest> NewcomerHost::await_call(const EpochState& epoch_state) {
  until_ = deadline();
  while (failures_ < most_failures) {
    if (waiting_.empty()) start(epoch_state);
    accept_callers();
    const bool all_start = take_start_results();
    const auto here =
        std::ranges::find_if(waiting_, [](const auto& entry) { return entry.second.connection != nullptr; });
    if (here != waiting_.end()) {
      auto entry = waiting_.extract(here);
      return std::make_unique<Guest>(entry.key(), std::move(entry.mapped()));
    }
    if (!all_start && waiting_.empty()) return nullptr;  // no other is coming

    const bool late = Clock::now() > until_;
    const auto ended = std::erase_if(
        waiting_, [&](const auto& entry) { return entry.second.is_gone() || (late && entry.second.process); });
    failures_ += static_cast<int>(ended);
    if (late && ended == 0) return nullptr;
    if (late) log::warn(lateness());
    if (late || waiting_.empty()) until_ = deadline();
    agreements_.answer();
    std::this_thread::yield();
  }
  return nullptr;
}

std::string NewcomerHost::lateness() const {
  return fmt::format("a process was started to take over a rank, and has not come within {:g} s", limit_.count());
}

/// Returns the next newcomer that is ready to join; null if there is none.
std::unique_ptr<NewcomerHost::Guest> NewcomerHost::await_guest(const EpochState& epoch_state) {
  if (!detector_.at_work()) return nullptr;
  attendant_ = {};
  forget_useless(epoch_state);
  timeout_ = detector_.state().timeout;
  if (failures_ < most_failures)
    start_up_to(std::max<std::size_t>(1, epoch_state.roster.absent(epoch_state.members).size()), epoch_state);
  while (auto guest = await_call(epoch_state)) {
    guest->connection->send(write_peers(detector_.known_peers(), detector_.state(), self_));
    if (introduced(*guest)) return guest;
    ++failures_;
  }
  return nullptr;
}

/// Returns true if the guest has introduced itself in time and correctly.
bool NewcomerHost::introduced(Guest& guest) {
  for (;;) {
    if (const auto said = guest.connection->poll(); said && said->size() == sizeof guest.who) {
      std::memcpy(static_cast<void*>(&guest.who), said->data(), sizeof guest.who);
      if (introduces(guest.who, guest.expected, guest.called_as)) return true;
      log::warn(fmt::format("process {} was started to take over a rank, and introduces itself as another: it is ended",
                            guest.expected.value));
      return false;
    }
    if (guest.connection->ended()) return false;
    if (Clock::now() > until_) {
      log::warn(lateness());
      return false;
    }
    agreements_.answer();
    std::this_thread::yield();
  }
}

bool NewcomerHost::hosts(const EpochState& epoch_state) const {
  return recovery::host_of(epoch_state.roster, epoch_state.members, places_) == self_;
}

bool NewcomerHost::lost_one_of(const std::vector<ProcessId>& members) const {
  return witness_.has_died([&](ProcessId process) { return std::ranges::find(members, process) != members.end(); });
}

/// Returns false if an error of this process alone has prevented it, such as a lack of memory. The error may be
/// temporary, so it counts like a process that has not come.
bool NewcomerHost::try_to_find(const EpochState& epoch_state) {
  try {
    guest_ = await_guest(epoch_state);
    return true;
  } catch (const std::exception& error) {
    if (++failures_ >= most_failures) throw;
    log::warn(
        fmt::format("no process could be started to take over a rank, and this is tried again: {}", error.what()));
    return false;
  }
}

std::optional<ProcessId> NewcomerHost::find(const EpochState& epoch_state) {
  std::erase_if(let_in_, [](const auto& connection) { return connection->ended(); });
  until_ = Clock::time_point::max();  // nothing is awaited yet
  try {
    while (!try_to_find(epoch_state)) {
    }
    if (guest_) return guest_->who.process;
    if (failures_ >= most_failures) {
      throw EnvironmentError(fmt::format("{} that it has started have died", failures_));
    }
    if (Clock::now() > until_) throw EnvironmentError(lateness());  // perhaps only here
  } catch (const std::exception&) {
    dismiss_all();
    throw;
  }
  dismiss_all();
  return std::nullopt;
}

/// Gives up the processes that have been started. Those that the runtime has not reported yet end themselves, because
/// no process listens to them any more.
void NewcomerHost::dismiss_all() {
  waiting_.clear();
  callers_.clear();
  listener_.reset();
  failures_ = 0;
}

void NewcomerHost::leave_meeting() {
  left_.keep(std::move(meeting_.here));
  left_.keep(std::move(meeting_.contact));
  left_.keep(std::move(meeting_.bridge));
  left_.keep(std::move(meeting_.between));
  left_.keep(std::move(meeting_.joined));
  meeting_ = {};
}

bool NewcomerHost::meet(const EpochState& epoch_state) {
  MPI_Comm shrunk = MPI_COMM_NULL;
  leave_meeting();
  const InLibrary in_library;
  if (MPIX_Comm_shrink(epoch_state.base.get(), &shrunk) != MPI_SUCCESS) return false;
  meeting_.here = returning_errors(shrunk);
  return meeting_.here.size() == epoch_state.base.size();
}

/// Returns the longest time that a newcomer has. The host ends it when its time is over, so no process is stuck before
/// that.
std::chrono::milliseconds NewcomerHost::time_for_newcomer() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(limit_);
}

bool NewcomerHost::connect(const EpochState& epoch_state, ProcessId host, const JobRecord& record) {
  if (guest_) {
    meeting_.newcomer = guest_->who;
    witness_.know(meeting_.newcomer.process, meeting_.newcomer.name);
    patience_ = std::make_unique<Patience>(*guest_, witness_, until_);
  }
  const int host_rank = rank_of(host, epoch_state);
  const InLibrary in_library(InLibrary::Step::other, time_for_newcomer());
  return succeeds([&] {
    DetectorPeer& newcomer = meeting_.newcomer;
    check_mpi(MPI_Bcast(&newcomer, sizeof newcomer, MPI_BYTE, host_rank, meeting_.here.get()), "MPI_Bcast");
    witness_.know(newcomer.process, newcomer.name);
    if (guest_) {
      const std::string port = open_port();
      const std::string join_info = write_join_info({epoch_state, port, agreements_.last_group(), record});
      guest_->connection->send(std::as_bytes(std::span(join_info)));
      reach("spawn.connect");
      meeting_.contact = accept(port);
      meeting_.bridge = merged(meeting_.contact, false);
    }
    reach("spawn.create");
    meeting_.between = make_intercommunicator(meeting_.here.get(), host_rank, meeting_.bridge, 1);
  });
}

bool NewcomerHost::merge(const EpochState& epoch_state) {
  DeathNews news;
  const InLibrary in_library(InLibrary::Step::other, time_for_newcomer());
  const bool has_merged = succeeds([&] {
    // A message to a newcomer that does not receive is ended neither by the death of a member nor by a revocation, but
    // only by the newcomer's own death (docs/open-mpi.md). The newcomer is dropped in this case, so its death is
    // reported to the library before it has happened.
    const WhileMpiWaits look([&] {
      const bool has_news = news.is_there(witness_);
      if (meeting_.is_hopeless ||
          !(is_revoked(meeting_.between.get()) || (has_news && lost_one_of(epoch_state.members))))
        return;
      meeting_.is_hopeless = true;
      interrupt();
      witness_.tell_library(meeting_.newcomer.process);
    });
    greet(meeting_.between);
    reach("spawn.merge");
    meeting_.joined = merged(meeting_.between, false);
    if (!guest_) return;
    while (!guest_->connection->poll()) {
      if (guest_->connection->ended()) throw ProcessFailure("the newcomer has died");
      agreements_.answer();
      std::this_thread::yield();
    }
  });
  return has_merged && !meeting_.is_hopeless;
}

Placed NewcomerHost::admit(EpochState& epoch_state) {
  patience_.reset();
  if (guest_) {
    guest_->connection->send(bytes_of(Admission{step_when_settled()}));
    let_in_.push_back(guest_->release());
    guest_.reset();
    failures_ = 0;
  }
  reach("spawn.admit");
  const DetectorPeer& newcomer = meeting_.newcomer;
  detector_.admit(newcomer);
  std::vector<ProcessId> members = epoch_state.members;
  members.push_back(newcomer.process);
  detector_.enter(members);
  agreements_.settle(epoch_state.base.get());
  const Placed placed{newcomer.process, newcomer.peer.node};
  left_.keep(std::move(epoch_state.base));
  enlarge(epoch_state, newcomer, std::move(meeting_.joined), agreements_);
  leave_meeting();
  reach("spawn.done");
  return placed;
}

void NewcomerHost::interrupt() {
  if (meeting_.here) revoke(meeting_.here.get());
  if (meeting_.between) revoke(meeting_.between.get());
}

void NewcomerHost::give_up() {
  patience_.reset();
  if (guest_) ++failures_;
  guest_.reset();
  leave_meeting();
}

}  // namespace mend
