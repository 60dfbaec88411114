#include "framework/local_rollback/local_rollback.hpp"

#include "agreement/ballot.hpp"
#include "base/death/catchable.hpp"
#include "base/error.hpp"
#include "base/name_runs.hpp"
#include "base/telemetry/activity.hpp"
#include "base/telemetry/log.hpp"
#include "base/telemetry/place.hpp"
#include "base/telemetry/trace.hpp"
#include "framework/local_rollback/log_limit.hpp"
#include "framework/process/body_guard.hpp"
#include "framework/process/process_context.hpp"
#include "framework/process/hooks/refused_hooks.hpp"
#include "framework/recovery/engine.hpp"
#include "store/snapshot/hash.hpp"
#include "transport/collectives.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace mend {
namespace {

/// The number of the first phase after a version. There are fewer than 65,536 phases between two versions.
std::uint64_t first_phase_after(Version version) { return (version.value + 1) << 16U; }

const char* difference_text(replay::SenderLog::Difference::What what) {
  using What = replay::SenderLog::Difference::What;
  switch (what) {
    case What::content: return "or one before it has another content";
    case What::more: return "was not sent the first time";
    case What::fewer: return "was sent the first time, and not now";
  }
  return "?";
}

}  // namespace

LocalRollback::LocalRollback(Engine& engine, const LocalRollbackOptions& options)
    : engine_(engine),
      sender_log_(engine.rank().value, &hash_of),
      messages_(
          sender_log_, [this] { recover(); }, {"--mend-rollback local does", "use --mend-rollback all"},
          LoggedMessages::AnySource{[this] { return sender_log_.is_behind(); },
                                    [this](const std::string& reason) { give_up(reason); }}),
      collectives_(messages_),
      derived_(engine.rank().value),
      ranks_(engine.epoch_state().roster.size()),
      options_(options) {
  if (!options_.log_limit) {
    const std::vector<NodeId> nodes = engine.epoch_state().roster.nodes();
    const NodeId here = nodes.at(static_cast<std::size_t>(engine.rank().value));
    options_.log_limit = default_log_limit(static_cast<std::size_t>(std::ranges::count(nodes, here)));
  }
  engine.cluster_rollback().enter_body(engine.epoch_state().roster, engine.epoch_state().epoch);
  session_.rank = engine.rank().value;
  session_.size = ranks_;
  session_.members.resize(static_cast<std::size_t>(ranks_));
  std::iota(session_.members.begin(), session_.members.end(), 0);
  engine_.rollback_counts().begin(engine_.first_size());  // the same in all processes, also when ranks were given up
  rollback_note::waits_in_vain = false;
  process_context().logged_calls = this;
  intercept_refused_calls();
}

LocalRollback::~LocalRollback() {
  // While calls are logged: the callbacks of their attributes may free others.
  { const Communicator first = std::move(session_.handle); }
  derived_.release_all();
  process_context().logged_calls = nullptr;
  note_gone_back(false);
  // If it rolls back with its cluster, its messages have ended, and the communicators are those of the next entry.
  if (!goes_back_with_cluster_ && (messages_.uses_communicators() || !acknowledgements_.empty())) {
    for (const MPI_Comm comm : session_.comms)
      if (comm != MPI_COMM_NULL) revoke(comm);
    derived_.for_each_comm([](MPI_Comm comm) { revoke(comm); });
    messages_.end_epoch();
    end_acknowledgements();
  }
  // Nobody completes requests of this entry any more, and the application may still wait for one.
  messages_.drop(session_);
  derived_.for_each([this](const VirtualComm& one) { messages_.drop(one); });
  messages_.leave_requests();
  derived_.leave(engine_.left_communicators());
  engine_.left_communicators().keep(std::move(collectives_comm_));
}

const VirtualComm* LocalRollback::virtual_comm_of(MPI_Comm comm) const {
  if (inside_ != 0 || comm == MPI_COMM_NULL) return nullptr;
  return comm == session_.handle.get() ? &session_ : derived_.find(comm);
}

LoggedCalls* logged_calls() {
  LoggedCalls* const one = process_context().logged_calls;
  if (one == nullptr || !one->is_outside()) return nullptr;
  one->note_call_on(MPI_COMM_NULL);
  return one;
}

LoggedCalls* logged_calls_of(MPI_Comm comm) {
  LoggedCalls* const one = process_context().logged_calls;
  if (one == nullptr || one->virtual_comm_of(comm) == nullptr) return nullptr;
  one->note_call_on(comm);
  return one;
}

int LocalRollback::run(Call call, void* work) {
  int code = MPI_SUCCESS;
  messages_.take_failed();  // of an earlier call
  if (leaves_) {
    code = MPIX_ERR_REVOKED;
  } else {
    const Inside inside(inside_);
    try {
      const ErrorsHandled as_in_cpp(OnError::throws);
      code = call(work);
      check_messages();
      if (sender_log_.bytes_held() > log_limit()) check_log();
      if (messages_.take_caught_up()) count_steps();
      if (has_mates_) exchange_acknowledgements();
    } catch (const ProcessFailure&) {
      code = MPIX_ERR_PROC_FAILED;
    } catch (const agreement::Abandoned&) {
      job_has_ended_ = true;
      return pass_on();
    } catch (...) {
      return pass_on();
    }
  }
  if (code != MPI_SUCCESS) handle(code);
  return code;
}

/// Passes the error of an intercepted call to MPI's error handler. The virtual communicator may be of an old epoch. A
/// handler that the program has set gets no failures: all ranks go back.
void LocalRollback::handle(int code) {
  if (goes_back_with_cluster_) {
    // This error does not interrupt the others: they wait for this rank.
    const ProcessFailure error("the cluster of this rank goes back to the last commit");
    if (errors_are_thrown() && is_catchable(error)) throw error;
    return;
  }
  const MPI_Comm beneath = session_.comm(Traffic::messages);
  const VirtualComm* const of_request = messages_.take_failed();
  const VirtualComm* const called = comm_of_call_ == MPI_COMM_NULL ? of_request : virtual_comm_of(comm_of_call_);
  const bool is_there = called != nullptr && called->handle;  // it may have been freed
  const MPI_Comm comm = is_there ? called->handle.get() : session_.handle.get();
  if (comm == MPI_COMM_NULL || handles_errors_of(comm) || means_failure(beneath, code))
    return handle_error(beneath, code);
  PMPI_Comm_call_errhandler(comm, code);
}

/// Passes the present exception on to the application. If none can pass, as in C, ends the job because of it, and
/// returns MPI's code.
int LocalRollback::pass_on() {
  try {
    throw;
  } catch (const UsageError& error) {
    if (errors_are_thrown() && is_catchable(error)) throw;
    return refuse_in_body(error.what());
  } catch (const agreement::Abandoned&) {
    if (errors_are_thrown()) throw;
    return MPIX_ERR_REVOKED;  // the job has ended
  } catch (const std::exception& error) {
    if (errors_are_thrown()) throw;
    return refuse_in_body(error.what());
  }
}

int LocalRollback::refuse(const char* call) const {
  try {
    throw UsageError(
        fmt::format("{} on session.comm() is not covered by --mend-rollback local: use --mend-rollback all", call));
  } catch (...) {
    return pass_on();
  }
}

bool LocalRollback::agree(bool flag) {
  require_in_body();
  int all = flag ? 1 : 0;
  reduce(&all, MPI_INT, MPI_LAND, "agree()");
  return all != 0;
}

/// Reduces a value of mend's own over all ranks, by messages that are compared like those of the program's calls.
void LocalRollback::reduce(void* value, MPI_Datatype type, MPI_Op op, const char* where) {
  const Inside inside(inside_);
  const int code = collectives_.allreduce(session_, MPI_IN_PLACE, value, 1, type, op);
  check_messages();  // before the code: if a message does not fit since a rank went back, all go back
  check_mpi(code, where);
}

bool LocalRollback::commit_due(bool is_due) {
  require_in_body();
  if (!has_restored()) return is_due;
  ++steps_since_version_;
  const bool asks = log_pacing_.step();
  if (!is_due && std::ranges::find(again_, steps_since_version_, &CommitAgain::step) != again_.end()) {
    engine_.set_steps_since_commit(0);
    return true;
  }
  if (is_due || !asks) return is_due;
  std::uint64_t largest = sender_log_.room_since_restore();
  reduce(&largest, MPI_UINT64_T, MPI_MAX, "commit_due()");
  if (!log_pacing_.hear(log_of_setup_, largest, log_limit(), steps_since_version_)) return false;
  engine_.set_steps_since_commit(0);
  return true;
}

// --- recovery --------------------------------------------------------------------------------------------------

void LocalRollback::join() {
  const Inside inside(inside_);
  try {
    begin_epoch();
  } catch (const ProcessFailure&) {
    if (leaves_) throw;
    recover();
  }
}

void LocalRollback::recover() {
  const Inside inside(inside_);
  const CallMarkKept same_call;
  for (;;) {
    if (leaves_) leave();
    if (waits_in_vain())
      refusal_ =
          "since a rank went back, all ranks wait for each other, and nothing moves (--mend-stuck-limit): the program "
          "is not send-deterministic (messages that are sent only before a failure, or only after one, are a usual "
          "cause)";
    engine_.recover_in_place();
    try {
      begin_epoch();
      return;
    } catch (const ProcessFailure&) {
    }
  }
}

/// All ranks leave the body and roll back.
void LocalRollback::leave() {
  leaves_ = true;
  throw ProcessFailure("all ranks go back to the last commit");
}

void LocalRollback::begin_epoch() {
  std::optional<AtPlace> in_recovery;  // the ranks that stay are in a call of the program
  if (engine_.epoch_state().epoch > Epoch{0}) in_recovery.emplace(Place::recovery);
  messages_.end_epoch();
  end_acknowledgements();
  was_leaving_ = engine_.take_was_leaving() || was_leaving_;
  if (engine_.epoch_state().roster.size() != ranks_) {  // ranks were given up: on all ranks alike
    if (options_.is_strict)
      throw agreement::OrderError("ranks were given up: with --mend-rollback local,strict the job ends");
    const MPI_Comm application = engine_.epoch_state().application.get();
    session_.comms = {application, application};  // errors are reported on a communicator of this epoch
    leave();
  }
  decide_who_goes_back();
  make_comms();
  others_.assign(static_cast<std::size_t>(ranks_), PeerState{});
  if (engine_.epoch_state().epoch == Epoch{0}) {
    is_newcomer_ = false;
    learn_nodes();
    engine_.cluster_rollback().begin_life(Epoch{0});
    return;
  }
  const int self = session_.rank;
  std::vector<PeerPacket> packets;
  for (const auto& words : exchange_words_with_all(session_.comm(Traffic::messages), tag_of_exchange,
                                                   [&](int peer) { return packet_for(peer).words(); })) {
    packets.push_back(PeerPacket::from(words));
  }
  std::ranges::transform(packets, others_.begin(), &PeerPacket::state);
  learn_nodes();
  numbers_known_ = std::ranges::max(others_, {}, [](const PeerState& one) { return one.begun.size(); }).begun;
  plan_commit_again();
  const bool go_on = std::ranges::none_of(others_, &PeerState::refuses);
  if (!engine_.ballot().vote(agreement::Proposal::flag, go_on)) {  // so that all leave, or none
    if (options_.is_strict) end_strictly();
    if (!refusal_.empty()) log::warn(fmt::format("rank {}: {}: all ranks go back to the last commit", self, refusal_));
    const auto speaker = std::ranges::find_if(others_, &PeerState::has_restored);
    if (was_leaving_ && speaker - others_.begin() == self) {
      log::notice(
          "a process died while the job left in time: all ranks go back to the last commit, and leave at the next one");
    }
    leave();
  }
  exchange_histories();  // before messages of the application are sent on the same communicator
  std::set<Recipe> recipes;
  for (const PeerPacket& packet : packets) recipes.insert(packet.recipes.begin(), packet.recipes.end());
  for (const Recipe& one : recipes) derived_.make(one, session_.comm(Traffic::messages), engine_.left_communicators());
  std::uint64_t resent = 0;
  std::uint64_t resent_bytes = 0;
  for (int peer = 0; peer < ranks_; ++peer) {
    for (const replay::SenderLog::Resent& one :
         sender_log_.hear(peer, packets[static_cast<std::size_t>(peer)].receipts)) {
      const VirtualComm& virtual_comm = virtual_comm_with(one.channel.context / 2);
      const MPI_Comm comm = virtual_comm.comm(static_cast<Traffic>(one.channel.context % 2));
      check_mpi(messages_.resend(comm, virtual_comm.rank_of(peer), one.channel.tag, one.bytes), "MPI_Isend");
      ++resent;
      resent_bytes += one.bytes.size();
    }
  }
  report(resent, resent_bytes);
  if (goes_back(self)) {
    compares_ = true;
    begin_replay();
  }
  tell_who_goes_back();
  share_counts();
  serve();
  messages_.begin_epoch();
  is_newcomer_ = false;
  note_gone_back(rolled_back_since_commit_ || ranks_back_ > 0);
  engine_.cluster_rollback().begin_life(engine_.epoch_state().epoch);
}

void LocalRollback::make_comms() {
  const MPI_Comm application = engine_.epoch_state().application.get();
  MPI_Comm made = MPI_COMM_NULL;
  call_mpi([&] { return PMPI_Comm_dup(application, &made); }, "MPI_Comm_dup");
  engine_.left_communicators().keep(std::exchange(collectives_comm_, Communicator(made)));
  if (!session_.handle) {
    call_mpi([&] { return PMPI_Comm_dup(application, &made); }, "MPI_Comm_dup");
    session_.handle = Communicator(made);
  } else {
    call_mpi([&] { return PMPI_Comm_dup(application, &made); }, "MPI_Comm_dup");  // others may enter the body now
    const Communicator of_others(made);
  }
  session_.comms = {application, collectives_comm_.get()};
}

/// Learns on which nodes the ranks are, as far as MPI_Comm_split_type is concerned. A process that takes over a rank on
/// another node makes the same parts as its predecessor, so the others tell it what they know.
void LocalRollback::learn_nodes() {
  if (!nodes_.empty()) return;
  const auto knows = std::ranges::find_if(others_, [](const PeerState& one) { return !one.nodes.empty(); });
  if (knows != others_.end()) {
    nodes_ = knows->nodes;
    return;
  }
  for (const NodeId node : engine_.epoch_state().roster.nodes()) nodes_.push_back(static_cast<int>(node.value));
}

PeerPacket LocalRollback::packet_for(int peer) const {
  return {.state = {.phase = sender_log_.phase(),
                    .standing = standing(),
                    .refuses = !refusal_.empty() || log_is_full_ || was_leaving_,
                    .receives_from_any = receives_from_any_ || messages_.receives_from_any(),
                    .version = version_,
                    .steps = at_version_.steps,
                    .kept = steps_since_version_,
                    .logged = sender_log_.bytes(),
                    .log_limit = log_limit_,
                    .log_of_setup = log_of_setup_,
                    .log_pacing = at_version_.log_pacing,
                    .next_number = at_version_.number,
                    .begun = numbers_at_begun_,
                    .again = again_,
                    .nodes = nodes_},
          .recipes = derived_.recipes(),
          .receipts = sender_log_.receipts_for(peer)};
}

// --- the effect of a recovery ------------------------------------------------------------------------------------

bool LocalRollback::others_have_restored() const { return std::ranges::any_of(others_, &PeerState::has_restored); }

/// Reports to the trace and the result file what the recovery did on this rank and on all ranks.
void LocalRollback::report(std::uint64_t resent, std::uint64_t resent_bytes) {
  const auto note = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  const PeerState& own = others_[static_cast<std::size_t>(session_.rank)];
  const bool stays = own.has_restored();
  trace::instant("rollback", {{"epoch", engine_.epoch_state().epoch.value},
                              {"stays", stays ? 1 : 0},
                              {"back", !stays && engine_.cluster_rollback().is_back(Rank{session_.rank}) ? 1 : 0},
                              {"version", note(own.version.value)},
                              {"kept", stays ? note(own.kept) : 0},
                              {"logged", note(own.logged)},
                              {"resent", note(resent)},
                              {"resent_bytes", note(resent_bytes)}});
  RollbackReport told{engine_.epoch_state().epoch, {}, {}, {}};
  for (int rank = 0; rank < ranks_; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    const PeerState& one = others_[index];
    told.version = std::max(told.version, one.version);
    told.ranks.push_back({one.has_restored() ? one.kept : 0, one.logged});
    if (!one.has_restored() && engine_.cluster_rollback().is_back(Rank{rank})) told.back.push_back(Rank{rank});
  }
  engine_.note(std::move(told));
}

/// Counts go by the numbers that the ranks had at the start.
Rank LocalRollback::origin_of(int rank) const { return engine_.epoch_state().roster.seat(Rank{rank}).origin; }

/// The lowest rank that stays reports once which ranks roll back, to which version, and what the others keep.
void LocalRollback::tell_who_goes_back() {
  const auto speaker = std::ranges::find_if(others_, &PeerState::has_restored);
  std::vector<Rank> back;
  std::uint64_t kept = 0;
  std::uint64_t logged = 0;
  for (int rank = 0; rank < ranks_; ++rank) {
    const PeerState& one = others_[static_cast<std::size_t>(rank)];
    if (one.has_restored()) {
      kept += one.kept;
      logged = std::max(logged, one.logged);
    } else if (engine_.cluster_rollback().is_back(Rank{rank})) {
      back.push_back(Rank{rank});
    }
  }
  engine_.cluster_rollback().was_told();
  if (speaker == others_.end() || back.empty()) return;
  std::vector<Rank> origins;
  for (const Rank rank : back) origins.push_back(origin_of(rank.value));
  engine_.rollback_counts().go_back(origins, kept);
  engine_.rollback_counts().has_logged(logged);
  if (speaker - others_.begin() != session_.rank) return;
  log::notice(fmt::format(
      "only {} {} back to {}: the others keep {}; a rank has logged {:.1f} MiB at most", name_ranks(back),
      back.size() == 1 ? "goes" : "go",
      speaker->version == Version{} ? "the beginning" : fmt::format("version {}", speaker->version.value),
      kept == 0 ? "what they have computed" : fmt::format("{} that they have computed since", counted(kept, "step")),
      static_cast<double>(logged) / (1U << 20U)));
}

void LocalRollback::share_counts() {
  engine_.rollback_counts().has_logged(sender_log_.bytes());  // also since the last commit
  const std::span<std::uint64_t> words = engine_.rollback_counts().words();
  call_mpi(
      [&] {
        return PMPI_Allreduce(MPI_IN_PLACE, words.data(), static_cast<int>(words.size()), MPI_UINT64_T, MPI_MAX,
                              session_.comm(Traffic::collectives));
      },
      "MPI_Allreduce");
}

/// Called for a rank that rolls back: when it has caught up with what the others know of it, counts the steps computed
/// twice.
void LocalRollback::count_steps() {
  if (!std::exchange(counts_steps_, false)) return;
  engine_.rollback_counts().computed_twice(origin_of(session_.rank), steps_since_version_);
}

/// If newcomers are about to restore and this rank has restored already, sends them their data.
void LocalRollback::serve() {
  if (!has_restored() || std::ranges::all_of(others_, &PeerState::has_restored)) return;
  if (engine_.store().restore_others() != version_) leave();
}

void LocalRollback::restored(Version version) {
  const auto other = std::ranges::find_if(others_, &PeerState::has_restored);
  if (other != others_.end()) {
    if (other->version != version) leave();
    engine_.set_steps_since_commit(static_cast<int>(other->steps));
    agreed_number_ = other->next_number;
    log_limit_ = other->log_limit;
    log_of_setup_ = other->log_of_setup;
    log_pacing_.set_state(other->log_pacing);
  }
  derived_.end_setup();
  derived_.set_next_number(agreed_number_);
  version_ = version;
  at_version_ = at_commit();
  sender_log_.begin_phase();
  sender_log_.number_phase(first_phase_after(version));
  if (other == others_.end()) {  // all restore at once, and nobody repeats anything
    end_replay();
  } else if (messages_.replays()) {
    begin_replay();
  }
  check_sender_log();
}

LocalRollback::AtCommit LocalRollback::at_commit() const {
  return {agreed_number_, static_cast<std::uint64_t>(engine_.steps_since_commit()), log_pacing_.state()};
}

void LocalRollback::complete_pending() {
  through_failures([this] {
    publishing([this] { engine_.store().complete_pending(); }, [this](Version version) { published(version); });
  });
}

Version LocalRollback::stored_version() const { return engine_.store().version(); }

void LocalRollback::begun_commit() {
  messages_.settle();
  engine_.rollback_counts().has_logged(sender_log_.bytes());
  trace::instant("logged", {{"bytes", static_cast<std::int64_t>(sender_log_.bytes())},
                            {"retained", static_cast<std::int64_t>(sender_log_.retained_bytes())}});
  at_begun_commit_ = at_commit();
  steps_at_begun_commit_ = steps_since_version_;
  begin_phase();
  end_replay();
  check_sender_log();
  if (options_.tried == 0 || !compares_) return;
  log::notice(fmt::format("rank {} is send-deterministic: {} were the same when sent again", session_.rank,
                          counted(sender_log_.compared(), "message")));
  compares_ = false;
}

/// Begins the phase after a commit that has begun, or that this rank passes.
void LocalRollback::begin_phase() {
  numbers_at_begun_.push_back(agreed_number_);
  derived_.begin_commit();
  derived_.set_next_number(agreed_number_);
  sender_log_.begin_phase();
}

int LocalRollback::tag_of(OwnTag message) { return highest_tag() - static_cast<int>(message); }

/// Waits until all ranks that had not begun the commit come to it, as they would if it were made. Otherwise one of them
/// might poll, before it, and find a message that another has sent after it.
void LocalRollback::meet_those_behind() {
  const Inside inside(inside_);
  const auto if_behind = [this](int rank) {
    return others_[static_cast<std::size_t>(rank)].phase <= sender_log_.phase() ? rank : MPI_PROC_NULL;
  };
  for (int distance = 1; distance < ranks_; ++distance) {
    const int to = if_behind((session_.rank + distance) % ranks_);
    const int from = if_behind((session_.rank - distance + ranks_) % ranks_);
    if (to != MPI_PROC_NULL || from != MPI_PROC_NULL)
      exchange_words(session_.comm(Traffic::collectives), to, from, tag_of(OwnTag::passing), {});
  }
}

void LocalRollback::pass_commit() {
  const AtPlace at(Place::commit);
  meet_those_behind();
  agreed_number_ = numbers_known_.at(numbers_at_begun_.size());
  begin_phase();
  if (messages_.replays()) {
    begin_replay();
    if (!messages_.replays()) count_steps();
  }
  check_sender_log();
}

/// A commit that a failure has voided is made up for at the next step that no rank has reached. A rank that rolls back
/// needs the steps of all such commits since the version.
void LocalRollback::plan_commit_again() {
  again_ = std::ranges::max(others_, {}, [](const PeerState& one) { return one.again.size(); }).again;
  const std::uint64_t voids = numbers_known_.size();
  if (voids == 0 || (!again_.empty() && again_.back().voids == voids)) return;
  again_.push_back({voids, std::ranges::max(others_, {}, &PeerState::kept).kept + 1});
}

void LocalRollback::published(Version version) {
  version_ = version;
  at_version_ = at_begun_commit_;
  steps_since_version_ -= steps_at_begun_commit_;
  numbers_at_begun_.clear();
  numbers_known_.clear();
  again_.clear();
  derived_.end_commit();
  sender_log_.committed();
  log_is_full_ = sender_log_.has_forgotten();
}

void LocalRollback::committed(Version version) {
  begun_commit();
  published(version);
  sender_log_.number_phase(first_phase_after(version));
  adopt_clusters();
}

// --- obstacles -------------------------------------------------------------------------------------------------

/// Called when a call ends: gives up if one of its messages does not fit, or if this rank has sent something else than
/// its predecessor.
void LocalRollback::check_messages() {
  const bool is_too_short = messages_.take_too_short();
  const bool is_cut = messages_.take_cut();
  if (is_too_short || is_cut) check_length(is_too_short, is_cut);
  if (sender_log_.difference()) check_sender_log();
}

/// Gives up if this rank sends something else than its predecessor did: its results do not fit what the others have.
void LocalRollback::check_sender_log() {
  const auto& difference = sender_log_.difference();
  if (!difference || !refusal_.empty()) return;
  give_up(fmt::format(
      "message {} to rank {} with tag {} {} when it is sent again: the program is not send-deterministic (random "
      "numbers without a seed, or times, as of MPI_Wtime, are usual causes)",
      difference->number, difference->channel.peer, difference->channel.tag, difference_text(difference->what)));
}

/// All ranks are at the same place, and none has sent anything after it.
void LocalRollback::end_replay() {
  messages_.end_replay();
  histories_ = {};
  note_gone_back(false);
}

void LocalRollback::note_gone_back(bool has_gone_back) {
  rolled_back_since_commit_ = has_gone_back;
  rollback_note::has_gone_back = has_gone_back;
}

/// Gives up if a receive does not fit a message of the log, or a message of a rank that rolls back. It may fit when all
/// ranks begin again. Without a rollback, refuses messages that are cut, because they are not noted as received.
void LocalRollback::check_length(bool is_too_short, bool is_cut) {
  if (!rolled_back_since_commit_ && is_cut)
    throw UsageError(
        "a message is longer than its receive (MPI_ERR_TRUNCATE), which --mend-rollback local does not cover: receive "
        "as much as is sent; MPI_Probe and MPI_Get_count tell how much that is");
  if (!rolled_back_since_commit_) return;
  if (is_cut)
    give_up(
        "since a rank went back, a message is longer than its receive (MPI_ERR_TRUNCATE): the program is not "
        "send-deterministic (lengths that depend on failures are a usual cause)");
  if (is_too_short)
    give_up(
        "since a rank went back, a message of a collective call is shorter than what the call expects: the program is "
        "not send-deterministic (calls that are made only before a failure, or only after one, are a usual cause)");
}

void LocalRollback::require_same_messages() {
  if (!rolled_back_since_commit_) return;
  const Inside inside(inside_);
  std::uint64_t sum = sender_log_.balance_before();
  call_mpi(
      [&] { return PMPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, session_.comm(Traffic::collectives)); },
      "MPI_Allreduce");
  if (sum == 0) return;
  if (session_.rank != 0) {
    recover();  // returns if rank 0 has died before it could say so: its successor compares again
    return require_same_messages();
  }
  give_up("a rank has taken other messages since a rank went back than before, as by MPI_Iprobe");
}

void LocalRollback::tell_of_void_commit() const {
  if (session_.rank != 0 || numbers_at_begun_.empty()) return;
  log::warn(fmt::format(
      "the last commit was not made, because a process died before it was published: {}",
      version_ == Version{} ? "nothing was committed" : fmt::format("the newest version is {}", version_.value)));
}

std::size_t LocalRollback::log_limit() const { return log_limit_ != 0 ? log_limit_ : *options_.log_limit; }

/// Called when the log, with the copies for ranks of the cluster, holds more than its limit. If it still does without
/// the copies that were received, it is dropped, but for copies that are being sent. Then this rank cannot send the
/// others the messages that they need, and all ranks roll back at the next failure, unless they commit before.
void LocalRollback::check_log() {
  const std::vector<const std::byte*> in_use = messages_.sends_under_way();
  sender_log_.reuse_retained(in_use);
  if (sender_log_.bytes_held() <= log_limit()) return;
  if (!std::exchange(log_is_full_, true)) {
    const std::string_view then = options_.is_strict ? "the job ends" : "all ranks go back";
    const std::size_t limit = log_limit() >> 20U;
    if (has_restored()) {
      log::warn(fmt::format(
          "rank {}: its log of messages is full ({} MiB): if a process dies before the next commit, {}; commit more "
          "often, or raise --mend-log-limit",
          session_.rank, limit, then));
    } else {  // this part of the log is never freed
      log::warn(fmt::format(
          "rank {}: its log of the messages before restore() is full ({} MiB): if a process dies, {}; send less before "
          "restore(), or raise --mend-log-limit",
          session_.rank, limit, then));
    }
  }
  sender_log_.forget_log(in_use);
}

/// The first rank is tried when there is a commit, the next one at the commit after that. When the process ends, all
/// ranks have sent the messages that come before the commit, and most of these messages have been received.
void LocalRollback::try_rank() {
  const auto rank = static_cast<std::int64_t>(version_.value) - 1;
  if (rank < 0 || rank >= std::min(options_.tried, ranks_)) return;
  {
    const Inside inside(inside_);
    check_mpi(collectives_.barrier(session_), "commit()");
  }
  if (rank != session_.rank || engine_.epoch_state().roster.seat(Rank{session_.rank}).predecessors > 0) return;
  log::notice(fmt::format("rank {}: its process ends on purpose, to check that a spare sends the same", rank));
  std::raise(SIGKILL);
}

void LocalRollback::require_tried() const {
  if (options_.tried == 0 || !engine_.rollback_counts().to_string().empty()) return;
  throw agreement::OrderError(
      "nothing was checked: --check-determinism needs a program that commits at least twice (--mend-commit-every)");
}

/// Ends the job because all ranks would have to roll back.
void LocalRollback::end_strictly() const {
  if (!refusal_.empty()) throw UsageError(refusal_ + ": with --mend-rollback local,strict the job ends");
  if (was_leaving_)
    throw UsageError("a process died while the job left in time: with --mend-rollback local,strict the job ends");
  if (log_is_full_) {
    throw UsageError(
        "its log of messages was full when a process died: with --mend-rollback local,strict the job ends; commit more "
        "often, or raise --mend-log-limit");
  }
  throw agreement::Abandoned();  // another rank reports the reason
}

void LocalRollback::require_nothing_under_way(const char* where) {
  const Inside inside(inside_);
  const MPI_Comm comm = session_.comm(Traffic::collectives);
  const bool holds_any =
      has_restored() && (derived_.holds_any_of_interval() || messages_.has_persistent_on([&](const VirtualComm& one) {
        return derived_.is_of_interval(one);
      }));
  std::array<std::uint64_t, 5> sums{sender_log_.balance(), messages_.has_pending() ? 1U : 0U, holds_any ? 1U : 0U,
                                    messages_.receives_from_any() ? 1U : 0U, rolled_back_since_commit_ ? 1U : 0U};
  call_mpi([&] { return PMPI_Allreduce(MPI_IN_PLACE, sums.data(), 5, MPI_UINT64_T, MPI_SUM, comm); }, "MPI_Allreduce");
  receives_from_any_ = receives_from_any_ || sums[3] != 0;
  std::array<std::uint64_t, 3> largest{derived_.next_number(), ~std::uint64_t{log_limit()},
                                       has_restored() ? log_of_setup_ : sender_log_.room()};
  call_mpi([&] { return PMPI_Allreduce(MPI_IN_PLACE, largest.data(), 3, MPI_UINT64_T, MPI_MAX, comm); },
           "MPI_Allreduce");
  agreed_number_ = static_cast<std::uint32_t>(largest[0]);
  log_limit_ = ~largest[1];
  log_of_setup_ = largest[2];
  const auto refuse = [&](bool is_this, const std::string& sentence) {
    throw UsageErrorOfRank(lowest_rank_with(comm, is_this).value_or(0), sentence);
  };
  if (sums[2] != 0) {
    refuse(holds_any,
           fmt::format("a communicator made since restore(), or a persistent request on it, is there at {}: with "
                       "--mend-rollback local, make it before restore(), or free it before {}",
                       where, where));
  }
  if (sums[1] != 0) {
    refuse(messages_.has_pending(),
           fmt::format("a request or a matched message was not completed before {}: with --mend-rollback local, "
                       "complete all before",
                       where));
  }
  if (sums[0] == 0) return choose_clusters();
  // A rank that rolled back may have taken a message as absent that was not sent again yet, as by MPI_Iprobe.
  if (sums[4] != 0) give_up(fmt::format("messages are under way at {} after it went back", where));
  throw agreement::OrderError(
      fmt::format("messages are under way at {}: with --mend-rollback local, every message is received before", where));
}

}  // namespace mend
