#include "framework/recovery/engine.hpp"

#include "base/assert.hpp"
#include "base/death/fail_stop.hpp"
#include "base/fault_point.hpp"
#include "base/telemetry/activity.hpp"
#include "base/telemetry/job_board.hpp"
#include "base/telemetry/job_status.hpp"
#include "base/telemetry/library_wait.hpp"
#include "base/telemetry/log.hpp"
#include "base/telemetry/microseconds.hpp"
#include "base/telemetry/place.hpp"
#include "base/telemetry/trace.hpp"
#include "framework/epoch/waiting_place.hpp"
#include "framework/process/hooks/communicator_hooks.hpp"
#include "framework/process/mpi_runtime.hpp"
#include "framework/recovery/body_outcome.hpp"
#include "framework/recovery/recovery_core_setup.hpp"
#include "store/snapshot/memory/block_reserve.hpp"
#include "transport/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mend {
namespace {

using agreement::Proposal;
using recovery::Event;

}  // namespace

Engine::Engine(const Options& options, FailureDetector& detector) : Engine(options, detector, nullptr) {
  drive(recovery::Begin{});
  reporter_.begin_job(epoch_state_.roster.size());
  cluster_rollback_.begin_job(epoch_state_.roster);
}

Engine::Engine(const Options& options, FailureDetector& detector, Newcomer& newcomer)
    : Engine(options, detector, &newcomer) {
  witness_.hear(newcomer.record().committed);
  reporter_.join_job(newcomer.record());
  requests_.hear(newcomer.record().writes_done);
  drive(recovery::Begin{});
}

Engine::Engine(const Options& options, FailureDetector& detector, Newcomer* newcomer)
    : detector_(detector),
      agreements_(options.agreement),
      epoch_state_(newcomer == nullptr ? EpochState{} : newcomer->join(agreements_)),
      maker_(epoch_state_, agreements_, left_),
      core_(newcomer == nullptr ? core_at_the_start(options, detector)
                                : core_of_newcomer(options, epoch_state_, newcomer->record())),
      newcomer_host_(core_.self(), detector, agreements_, left_, options.spawn_limit),
      disk_(options.disk),
      store_(options.redundancy, options.versions, disk_.options(), options.find_changes),
      communicators_(epoch_state_),
      reporter_(options, core_, witness_),
      briefing_(witness_, options.spare_memory == SpareMemory::ready),
      pacing_(options),
      requests_(options.disk ? options.disk->folder : std::filesystem::path()),
      heeds_sigterm_(options.on_term.value_or(options.disk ? OnTerm::checkpoint : OnTerm::kill) == OnTerm::checkpoint),
      rollback_(options.rollback),
      local_options_{options.rollback_is_strict, options.log_limit, options.checks_determinism ? options.spares : 0},
      cluster_rollback_(options.clusters) {
  if (options.versions < 2)
    throw UsageError("the store keeps one version while it makes the next: let it keep 2 versions or more");
  if (options.disk && options.disk->every < 1) throw UsageError("every N-th commit is written to disk: N is 1 or more");
  newcomer_host_.prefer(core_.places());
  // Spares must refuse it too; but not a newcomer of a job that has shrunk since.
  if (newcomer == nullptr) options.redundancy.require_ranks(core_.ranks());
  if (rollback_ == Rollback::local && !options.commit_every.steps) {
    throw UsageError(
        "--mend-rollback local needs a fixed number of steps between commits, because auto depends on measured times: "
        "give --mend-commit-every N");
  }
  if (options.clusters.kind != ClusterChoice::Kind::rank) {
    if (rollback_ != Rollback::local)
      throw UsageError("--mend-clusters says who goes back together with --mend-rollback local, which was not given");
    if (newcomer == nullptr)
      clusters_at_start(options.clusters, std::vector<NodeId>(static_cast<std::size_t>(core_.ranks())));
  }
  if (rollback_ != Rollback::local && options.log_limit)
    throw UsageError("--mend-log-limit was given without --mend-rollback local: without it nothing is logged");
  if (options.checks_determinism && (!options.rollback_is_strict || options.spares == 0)) {
    throw UsageError(
        "--mend-check-determinism needs --mend-rollback local,strict, and a spare for each rank that is tried: use "
        "mend run --check-determinism --spares 1");
  }
  if (options.find_changes == FindChanges::by_writes && !DirtyPages::is_possible() && newcomer == nullptr &&
      self() == ProcessId{0}) {
    log::warn(
        "this kernel does not report which pages were written (Linux 6.7 and later do): commits find changes by hash");
  }
  disk_.hold();
  log::set_speaker(self());
  take_session_for_world(options.world == WorldMeans::session);
  on_process_failure([this] { carry_out(recovery::FailureNoticed{}); });
  while_mpi_waits([this] { notice_while_waiting(); });
  on_communicator_made([this](MPI_Comm parent, MPI_Comm made) {
    if (!end_.agreed) communicators_.follow(parent, made);
  });
  on_communicator_freed([this](MPI_Comm comm) { return communicators_.keep_freed(comm); });
  store_.on_commit([this] {
    BlockReserve::instance().clear();  // a newcomer has all its blocks by now
    tell_spares();
    show_on_board();
  });
  agreements_.on_death([this](ProcessId process) { carry_out(recovery::ProcessDied{process}); });
}

Engine::~Engine() {
  on_communicator_freed({});
  on_communicator_made({});
  while_mpi_waits({});
  on_process_failure({});
}

void Engine::begin_epoch(bool newcomer) {
  if (!part_.rank) pacing_.begin_work();
  part_ = {core_.rank(), newcomer};
  communicators_.begin_epoch();
  reporter_.begin_epoch(epoch_state_, store_.statistics());
  asks_for_recovery_ = false;
  request_ = {};
  briefing_.begin_epoch();
  pacing_.begin_epoch();
  requests_.begin_epoch();
  forget_failure();
  detector_.enter(epoch_state_.members);
  begin_body_turns(epoch_state_.epoch);
  trace_epoch();
  const auto& rank = part_.rank;
  const std::optional<Rank> shown = rank && policy().blank ? epoch_state_.roster.seat(*rank).origin : rank;
  note_rank(shown);
  board::mine().rank = shown ? shown->value : board::Slot::none;
  board::mine().epoch = static_cast<std::uint32_t>(epoch_state_.epoch.value);
  board::mine().process = static_cast<std::int32_t>(self().value);
  if (!rank) return;
  take_into_epoch(store_);
  store_.hear(witness_.announced());
  if (epoch_state_.epoch == Epoch{0} && *rank == Rank{0} && epoch_state_.roster.size() == 1 &&
      !epoch_state_.roster.spares.empty()) {
    log::warn("with a single rank no other rank holds a copy of its data: if it dies, the data is lost");
  }
}

void Engine::trace_epoch() const {
  if (!trace::is_on()) return;
  trace::Notes notes{{"epoch", epoch_state_.epoch.value}};
  if (part_.rank) notes.emplace_back("rank", part_.rank->value);
  const auto processes =
      static_cast<std::int64_t>(epoch_state_.roster.seats.size() + epoch_state_.roster.spares.size());
  if (epoch_state_.epoch == Epoch{0}) notes.emplace_back("processes", processes);
  trace::instant("epoch", notes);
}

void Engine::take_into_epoch(StoreEngine& store) {
  store.begin_epoch(epoch_state_.store.get(), *epoch_state_.ballot, epoch_state_.roster.nodes(), epoch_state_.epoch);
}

// --- the loop --------------------------------------------------------------------------------------------------

ExitCode Engine::run(const Body& body) {
  set_body_rules(rules_of_bodies());
  heed_requests();
  if (!epoch_state_.roster.spares.empty() || policy().spawn) forbid_world();
  while (wait_for_rank()) {
    if (epoch_state_.epoch != Epoch{0}) forbid_world();  // it contains the dead process
    const recovery::BodyLeft left = play(body);
    if (!end_.agreed) drive(left);
  }
  return *end_.agreed;
}

bool Engine::wait_for_rank() {
  while (!end_.agreed && !part_.rank) drive(wait_as_spare());
  return !end_.agreed;
}

bool Engine::finish() {
  const Proposal proposal = proposal_after([this] { report_on_job(); }, body_context(), end_);
  reach("finish.before");
  drive(leaving(proposal));
  return end_.agreed.has_value();
}

void Engine::abandon(ExitCode code, const std::string& sentence) {
  while (!end_.agreed) {  // a failure is handled first: the job recovers from it, and goes on
    end_.fail(code, sentence);
    drive(leaving(Proposal::abandon));
  }
}

BodyRules Engine::rules_of_bodies() {
  return {[this] { return session_comm(); },
          [this](const std::string& sentence) {
            abandon(ExitCode::usage, fmt::format("rank {}: {}", rank().value, sentence));
          },
          [this] {
            job_status::finished(*end_.agreed);
            end_.has_lost ? leave_mpi_alone() : static_cast<void>(PMPI_Finalize());
          }};
}

// --- requests from outside -------------------------------------------------------------------------------------

/// Sets the requests that commits take care of. Only bodies that are left by exceptions support this.
void Engine::heed_requests() {
  if (heeds_sigterm_) OutsideRequests::heed_sigterm();
  OutsideRequests::heed_launcher();
  board::mine().disk = store_.disk_use();
  store_.heed({[this] { return requests_.any(); }, [this](MPI_Comm comm) { requests_.tell(comm); },
               [this](Version version, bool on_disk) { answer_requests(version, on_disk); }});
}

void Engine::answer_requests(Version version, bool on_disk) {
  show_on_board();
  if (requests_.committed(version, on_disk, part_.rank == Rank{0}) == OutsideRequests::Next::go_on) return;
  end_.fail(ExitCode::left_in_time, requests_.sentence());
  throw agreement::Abandoned();
}

/// Called when the body has returned. Ends the job if should_exit() has returned true on any rank. Collective.
void Engine::leave_if_asked() {
  if (!requests_.leaves() || ballot().vote(Proposal::finish, !requests_.was_told())) return;
  end_.fail(ExitCode::left_in_time, requests_.sentence());
  throw agreement::Abandoned();
}

/// Publishes a commit.
void Engine::show_on_board() const {
  board::mine().committed_at = in_microseconds(Clock::now()).count();
  show_version_on_board();
}

void Engine::show_version_on_board() const {
  board::Slot& slot = board::mine();
  slot.version = store_.version().value;
  slot.disk_version = store_.version_on_disk().value;
  slot.disk = store_.disk_use();
  slot.store_bytes = store_.statistics().memory_bytes;
}

recovery::BodyLeft Engine::leaving(Proposal proposal) {
  asks_for_recovery_ = proposal == Proposal::recover && !has_met_failure();
  reporter_.history().clock().leave_body();
  const StoreStatistics store = store_.statistics();
  const RecoveryHistory& history = reporter_.history();
  return {proposal, end_.code(), history.has_progressed(store), history.has_committed_twice(store)};
}

/// Returns true if this rank has met a failure in this epoch or has been notified of one.
bool Engine::has_met_failure() const {
  return communicators_.interrupted() || knows_of_failure() || epoch_state_.ballot->is_closed() ||
         is_revoked(epoch_state_.application.get()) || is_revoked(epoch_state_.store.get());
}

/// Gives `event` to the core and carries out its actions, until this process is in the body, parked, or at the end.
void Engine::drive(Event event) {
  const WorldItself first_base;  // the base of the first epoch is MPI_COMM_WORLD
  or_fail_stop([&] {
    std::optional<AtPlace> at_place;
    const bool starts = std::holds_alternative<recovery::Begin>(event) && core_.first_epoch();
    if (starts) at_place.emplace(Place::recovery);  // there is no body yet; a newcomer is at this place already
    for (std::optional<Event> next = std::move(event); next;) {
      const bool could_host = core_.can_host();
      const recovery::Actions actions = core_.step(*std::exchange(next, std::nullopt));
      epoch_state_.processes = core_.position().processes;
      if (could_host && !core_.can_host()) tell_that_it_cannot_host();
      for (const recovery::Action& action : actions) {
        if (const auto place = waiting_place(action); place && !core_.saves()) at_place.emplace(*place);
        if (auto result = attempt(action)) next = std::move(result);
      }
    }
  });
}

void Engine::tell_that_it_cannot_host() {
  const std::string why = std::exchange(obstacle_to_hosting_, {});
  log::warn(
      fmt::format("process {} cannot start another one to take over a rank: {}", self().value,
                  why.empty() ? fmt::format("{} that it has started have died", recovery::most_lost_newcomers) : why));
}

/// Gives an event to the core while this process waits in another action. The resulting actions do not wait.
void Engine::carry_out(const Event& event) {
  for (const recovery::Action& action : core_.step(event)) attempt(action);
}

std::optional<Event> Engine::attempt(const recovery::Action& action) {
  try {
    return std::visit([this](const auto& what) { return perform(what); }, action);
  } catch (const CommonError&) {
    throw;
  } catch (const std::exception& error) {
    if (core_.state() == recovery::State::ended) fail_stop(error.what());  // no later action could tell the others
    end_.own_error = error.what();
    log::debug(fmt::format("process {} has an error of its own: {}", self().value, end_.own_error));
    return recovery::LocalError{};
  }
}

// --- the body --------------------------------------------------------------------------------------------------

BodyContext Engine::body_context() const {
  return {[this] { return rank(); }, [this] { return reporter_.advise_on_loss(core_.course(), disk_.exists()); }};
}

/// Runs the body as this process's rank. Returns why the body was left.
recovery::BodyLeft Engine::play(const Body& body) {
  pacing_.begin_step();
  store_.forget_members();
  callbacks_.clear();
  reporter_.answer() = {};
  if (rollback_ == Rollback::local) return play_locally(body);
  const auto rest_of_the_body = [&] {
    Session session(*this);
    const InBody in_body;
    requests_.begin_body();
    run_in_this_process([&] { body(session); });
    requests_.end_body();
    end_of_body();
  };
  return leaving(proposal_after(rest_of_the_body, body_context(), end_));
}

/// Completes the body after it has returned. Collective.
void Engine::end_of_body() {
  throw_noted_error();
  store_.require_restored();
  store_.finish_commit();
  store_.finish_disk();
  report_on_job();
  leave_if_asked();
  reach("finish.before");
}

/// The same with local rollback. A rank whose cluster rolls back enters the body again, while the others wait for it in
/// their recovery.
recovery::BodyLeft Engine::play_locally(const Body& body) {
  for (;;) {
    const Proposal proposal = enter_locally(body);
    const bool enters_again = proposal == Proposal::recover && local_->goes_back_with_cluster();
    {
      const ErrorsReturned quiet;
      local_store_.reset();
      local_.reset();
    }
    if (!enters_again) return leaving(proposal);
    forget_failure();
    pacing_.begin_step();
    pacing_.set_steps_since_commit(0);
    store_.forget_members();
    callbacks_.clear();
    reporter_.answer() = {};
  }
}

/// Runs the body once. A rank whose body has returned sends other ranks the data that they need to continue, until all
/// ranks have reached the end.
Proposal Engine::enter_locally(const Body& body) {
  local_.emplace(*this, local_options_);
  local_store_.emplace(*this, *local_);
  const auto end = [&] {
    local_->require_in_body();
    local_->complete_pending();
    local_->through_failures([&] {
      local_->require_same_messages();
      end_of_body();
    });
    local_->tell_of_void_commit();
    local_->require_tried();
  };
  const auto rest_of_the_body = [&] {
    local_->join();
    Session session(*this);
    const InBody in_body;
    requests_.begin_body();
    run_in_this_process([&] { body(session); });
    requests_.end_body();
    end();
  };
  Proposal proposal = proposal_after(rest_of_the_body, body_context(), end_);
  while (proposal == Proposal::finish && !end_.agreed) {
    drive(leaving(proposal));
    if (end_.agreed) break;
    const auto again = [&] {
      local_->join();
      end();
    };
    proposal = proposal_after(again, body_context(), end_);
  }
  return proposal;
}

Event Engine::wait_as_spare() {
  const AtPlace at_place(Place::spare);
  reach("spare.parked");
  const auto is_rank = [this](ProcessId process) { return epoch_state_.roster.rank_of(process).has_value(); };
  const auto is_member = [this](ProcessId process) { return core_.position().has(process); };
  witness_.wait({epoch_state_.epoch, is_rank, is_member},
                [](std::span<const ByteCount> sizes, const std::function<bool()>& time) {
                  reach("spare.prepare");
                  BlockReserve::instance().prepare(sizes, time);
                  reach("spare.prepared");
                });
  reach("spare.woken");
  reporter_.history().clock().leave_body();
  return recovery::Called{};
}

/// Tells the spares after a commit that a version exists, in case all ranks die at once, and the sizes of a rank's
/// blocks, if they have changed. Rank 0 does this for all.
void Engine::tell_spares() {
  if (part_.rank != Rank{0} || epoch_state_.roster.spares.empty()) return;
  briefing_.tell(store_.version(), store_.block_sizes());
}

// --- failure and recovery --------------------------------------------------------------------------------------

/// Notices a failure from inside a call in which ranks wait for each other. If no process of the call's communicator
/// has died, no rank in it would learn of the failure. The signs are a revoked application communicator, and a death
/// that the runtime has reported.
void Engine::notice_while_waiting() {
  if (!part_.rank || communicators_.interrupted() || !communicators_.has_others()) return;
  const bool has_news = reporter_.deaths().have_news();
  const bool waits_in_vain = local_ && local_->waits_in_vain();
  if (is_revoked(epoch_state_.application.get()) || (has_news && knows_of_failure()) || waits_in_vain)
    carry_out(recovery::FailureNoticed{});
}

/// Called at the end of the body. Reports only if all ranks are there, because a rank that is in a commit would wait
/// for messages without end.
void Engine::report_on_job() {
  if (!reporter_.has_a_report() || !ballot().vote(Proposal::finish, true)) return;
  reporter_.end_of_body(epoch_state_, store_.statistics(), store_.version(), pacing_.run_time());
  if (local_) local_->share_counts();
}

Rank Engine::rank() const {
  require(part_.rank.has_value(), "a process that is asked for its rank has one");
  return *part_.rank;
}

// --- for Session -----------------------------------------------------------------------------------------------

bool Engine::knows_of_failure() const { return reporter_.deaths().are_in(epoch_state_.roster); }

void Engine::check() {
  note_activity();
  throw_noted_error();
  if (!knows_of_failure()) return;
  if (local_) return local_->recover();
  carry_out(recovery::FailureNoticed{});
  throw ProcessFailure("the runtime reported a death");
}

bool Engine::commit_due() {
  note_activity();
  throw_noted_error();
  if (board::mine().version != store_.version().value) show_version_on_board();  // it was restored
  if (witness_.death_count() > 0) check();
  if (local_) {
    local_->complete_pending();
    trace::instant("step");
  } else {
    store_.complete_pending();
  }
  const MPI_Comm comm = epoch_state_.store.get();
  const bool is_due = pacing_.due(reporter_.history(), store_.statistics(), comm);
  if (local_) return local_->commit_due(is_due);
  return pacing_.due_by_request(is_due, requests_.any_is_new(), comm);
}

agreement::Ballot& Engine::ballot() {
  if (end_.agreed) throw agreement::Abandoned();
  return *epoch_state_.ballot;
}

bool Engine::agree(bool flag) {
  const AtPlace at_place(Place::agree);
  return local_ ? local_->agree(flag) : ballot().vote(Proposal::flag, flag);
}

void Engine::refuse_if_local(const char* call) const {
  if (local_)
    throw UsageError(fmt::format("{} is not covered by --mend-rollback local: use --mend-rollback all", call));
}

void Engine::recover_in_place() {
  if (end_.agreed) throw agreement::Abandoned();
  const int steps = pacing_.steps_since_commit();
  carry_out(recovery::FailureNoticed{});
  drive(leaving(Proposal::recover));
  if (end_.agreed) throw agreement::Abandoned();
  pacing_.begin_step();
  pacing_.set_steps_since_commit(steps);
}

/// Recovers as if the body were left and entered again.
void Engine::repair() {
  refuse_if_local("repair()");
  if (end_.agreed) throw agreement::Abandoned();
  if (callbacks_.under_way())
    throw UsageError(
        "repair() was called by a callback of on_repair(): let the failure pass, and repair again after that");
  if (transactions_under_way_ > 0) {
    abandon(
        ExitCode::usage,
        fmt::format("rank {}: repair() was called inside a transaction: let the failure pass, and repair after that",
                    rank().value));
    throw agreement::Abandoned();
  }
  drive(leaving(Proposal::recover));
  if (end_.agreed) throw agreement::Abandoned();
  pacing_.begin_step();
  callbacks_.call();
}

}  // namespace mend
