#include "fenix/mlog/message_logs.hpp"

#include "base/death/fail_stop.hpp"
#include "base/error.hpp"
#include "fenix/data/call.hpp"
#include "fenix/process/job.hpp"
#include "fenix/process/settings.hpp"
#include "framework/process/process_context.hpp"
#include "framework/process/hooks/refused_hooks.hpp"
#include "store/snapshot/hash.hpp"
#include "transport/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <numeric>
#include <utility>

namespace mend::fenix {
namespace {

using replay::Channel;
using replay::RegionLog;

constexpr int least_reserved = 1 << 30;  // reserved ids; ids are tags of the messages of collective calls
constexpr int tag_of_exchange = least_reserved;

/// Thrown when a failure was recovered from, but the interrupted call cannot continue.
class RecoveredElsewhere : public std::exception {};

void put_counts(std::vector<std::uint64_t>& packet, const RegionLog::Counts& counts) {
  packet.push_back(counts.size());
  for (const auto& [channel, count] : counts) {
    const auto tag = static_cast<std::uint64_t>(static_cast<std::uint32_t>(channel.tag));
    packet.insert(packet.end(), {std::uint64_t{channel.context} << 32U | tag, count.number, count.hash});
  }
}

RegionLog::Counts counts_from(const std::vector<std::uint64_t>& packet, std::size_t& at) {
  RegionLog::Counts counts;
  for (std::uint64_t left = packet.at(at++); left > 0; --left) {
    const std::uint64_t channel = packet.at(at++);
    RegionLog::Count& count =
        counts[{0, static_cast<std::uint32_t>(channel >> 32U), static_cast<int>(static_cast<std::uint32_t>(channel))}];
    count.number = packet.at(at++);
    count.hash = packet.at(at++);
  }
  return counts;
}

/// Sets the present ranks.
void fit_to_ranks(VirtualComm& virtual_comm) {
  virtual_comm.rank = state().engine().rank().value;
  virtual_comm.size = state().engine().epoch_state().roster.size();
  virtual_comm.members.resize(static_cast<std::size_t>(virtual_comm.size));
  std::iota(virtual_comm.members.begin(), virtual_comm.members.end(), 0);
}

}  // namespace

MessageLogs& message_logs() { return *state().logs; }

// --- records of messages ---------------------------------------------------------------------------------------

RegionLog& MessageLogs::ByComm::of(const Channel& channel) const {
  return all_.logs_.at(static_cast<int>(channel.context / 2))->regions;
}

replay::MessageLog::Copy MessageLogs::ByComm::begin_send(const Channel& channel, std::size_t size) {
  all_.require_one_log(channel, true);
  return of(channel).begin_send(channel, size);
}

void MessageLogs::ByComm::end_send(const Channel& channel, std::span<const std::byte> copy) {
  of(channel).end_send(channel, copy);
}

void MessageLogs::ByComm::receive(const Channel& channel, std::span<const std::byte> bytes, bool by_request) {
  all_.require_one_log(channel, false);
  of(channel).receive(channel, bytes, by_request);
}

/// Refuses two logs with messages of one channel: the receiver could not distinguish repeated messages of the two logs.
void MessageLogs::require_one_log(const Channel& channel, bool is_send) {
  if (logs_.size() < 2 || channel.context % 2 == static_cast<std::uint32_t>(Traffic::collectives)) return;
  const int id = static_cast<int>(channel.context / 2);
  const MPI_Comm comm = logs_.at(id)->virtual_comm.comm(Traffic::messages);
  const auto [known, is_new] = users_.try_emplace({comm, channel.peer, channel.tag, is_send}, id);
  if (is_new || known->second == id) return;
  throw UsageError(fmt::format(
      "message logs {} and {} both have messages {} rank {} with tag {} on one communicator: give them other tags",
      std::min(id, known->second), std::max(id, known->second), is_send ? "to" : "from", channel.peer, channel.tag));
}

// --- Fenix's functions -----------------------------------------------------------------------------------------

MessageLogs::MessageLogs()
    : by_comm_(*this),
      messages_(by_comm_, [this] { recover_in_call(); }, {"a message log does", "deactivate the log"}),
      collectives_(messages_) {}

MessageLogs::~MessageLogs() {
  if (process_context().logged_calls == this) process_context().logged_calls = nullptr;
}

void MessageLogs::leave_to_program() {
  const ErrorsReturned quiet;
  for (const auto& [id, log] : logs_) messages_.drop(log->virtual_comm);
  if (!messages_.sends_under_way().empty()) {
    // The receivers may still take these messages: the communicators are the program's. So what they send stays.
    static auto& kept = *new std::vector<std::unique_ptr<Log>>;
    for (auto& [id, log] : logs_) kept.push_back(std::move(log));
    for (auto& log : retired_) kept.push_back(std::move(log));
  }
  messages_.leave_requests();
}

Epoch MessageLogs::epoch() const { return state().engine().epoch_state().epoch; }

MessageLogs::Log& MessageLogs::find(int id) const {
  const auto found = logs_.find(id);
  if (found == logs_.end()) throw Refused(FENIX_ERROR_INVALID_MLOGID, fmt::format("there is no message log {}", id));
  return *found->second;
}

void MessageLogs::require_known(int id) const { find(id); }

void MessageLogs::create(int id, MPI_Comm* comm, int depth) {
  if (id < 0 || id >= least_reserved)
    throw Refused(FENIX_ERROR_INVALID_MLOGID, "a message log has a number from 0 up, below 2^30");
  if (depth < 1)
    throw Refused(FENIX_ERROR_INVALID_DEPTH, "the depth is the number of regions that a message log keeps, from 1 up");
  auto log = std::make_unique<Log>(static_cast<std::size_t>(depth), &hash_of);
  log->id = id;
  log->comm = comm;
  log->virtual_comm.number = static_cast<std::uint32_t>(id);
  log->virtual_comm.collectives_tag = id;
  fit_to_ranks(log->virtual_comm);
  set_comms(*log);
  if (epoch() == Epoch{0}) log->synced = epoch();
  logs_[id] = std::move(log);
  order_.push_back(id);
  process_context().logged_calls = this;
  intercept_refused_calls();
}

void MessageLogs::set_comms(Log& log) const {
  if (log.comm == nullptr || !spans_all_ranks(*log.comm))
    throw Refused(FENIX_ERROR_INVALID_LOGIC_CALL,
                  "a message log is of all ranks: give it the resilient communicator, or a duplicate");
  log.virtual_comm.comms = {*log.comm, exchange_comm_.get()};
}

void MessageLogs::activate(int id) {
  active_ = nullptr;
  if (id != FENIX_MLOG_NONE) active_ = &find(id);
}

int MessageLogs::active() const { return active_ == nullptr ? FENIX_MLOG_NONE : active_->id; }

void MessageLogs::begin_region(int id, int region) {
  Log& log = find(id);
  if (!log.regions.can_begin(region)) {
    throw Refused(FENIX_ERROR_INVALID_LOGIC_CALL,
                  fmt::format("region {} of message log {} cannot begin: {} has begun, and is later or has messages",
                              region, id, log.regions.region().value_or(0)));
  }
  log.regions.begin_region(region);
  log.regions.forget_dropped(messages_.sends_under_way());
}

void MessageLogs::remove(int id) {
  Log& log = find(id);
  if (active_ == &log) active_ = nullptr;
  std::erase_if(users_, [id](const auto& one) { return one.second == id; });
  messages_.drop(log.virtual_comm);
  retired_.push_back(std::move(logs_.at(id)));  // requests and message copies may still refer to it
  logs_.erase(id);
  std::erase(order_, id);
}

std::vector<std::byte> MessageLogs::write(int id) const { return find(id).regions.write(); }

void MessageLogs::read(int id, std::span<const std::byte> bytes) {
  Log& log = find(id);
  if (epoch() != Epoch{0} && is_synced(log))
    throw Refused(FENIX_ERROR_INVALID_LOGIC_CALL,
                  fmt::format("message log {} was synced already: restore it before that", id));
  try {
    log.regions.read(bytes);
  } catch (const std::runtime_error& error) {
    throw Refused(FENIX_ERROR_NODATA_FOUND, fmt::format("message log {} was not restored: {}", id, error.what()));
  }
  messages_.drop(log.virtual_comm);
}

// --- sync ------------------------------------------------------------------------------------------------------

bool MessageLogs::is_synced(const Log& log) const { return log.synced == epoch(); }

/// Returns true if no rank has logged anything before the failure, so that there is nothing to repeat. Then some ranks
/// may sync and others not.
bool MessageLogs::needs_no_sync(const Log& log) const {
  return nothing_was_logged_ && !is_synced(log) && !log.regions.has_messages();
}

/// Continues with an empty log in this epoch, on the communicator that its variable names now. Local. Throws Refused.
void MessageLogs::renew(Log& log) {
  if (log.virtual_comm.size != state().engine().epoch_state().roster.size()) {
    messages_.drop(log.virtual_comm);
    fit_to_ranks(log.virtual_comm);
  }
  set_comms(log);
  if (is_revoked(*log.comm))
    throw Refused(FENIX_ERROR_INVALID_LOGIC_CALL,
                  fmt::format("message log {} was created for other ranks, or its communicator was not re-created: "
                              "delete it, and create it again",
                              log.id));
  messages_.begin_epoch(&log.virtual_comm);
  log.synced = epoch();
}

bool MessageLogs::all_synced() const {
  return std::ranges::all_of(
      logs_, [&](const auto& one) { return is_synced(*one.second) || !one.second->regions.has_messages(); });
}

void MessageLogs::sync_all() {
  for (const int id : std::vector<int>(order_))
    if (!is_synced(find(id))) sync(id, FENIX_MLOG_CONTINUE);
}

void MessageLogs::sync(int id, int region) {
  Log& log = find(id);
  if (region != FENIX_MLOG_CONTINUE && region < 0)
    throw Refused(FENIX_ERROR_INVALID_LOGIC_CALL, "a region has a number from 0 up, or is FENIX_MLOG_CONTINUE");
  if (needs_no_sync(log)) renew(log);
  if (is_synced(log)) {
    if (region == FENIX_MLOG_CONTINUE) return;
    if (!log.regions.can_begin(region)) {
      throw Refused(FENIX_ERROR_INVALID_LOGIC_CALL,
                    fmt::format("message log {} is synced, and has messages since: a rank goes back after a failure, "
                                "in the first Fenix_Mlog_sync",
                                id));
    }
    return log.regions.begin_region(region);
  }
  const Inside inside(inside_);
  // All ranks are here, and none restores a data group meanwhile.
  state().engine().ballot().vote(agreement::Proposal::flag, true);
  // The other ranks wait for this one, so it takes part even after a local error.
  const bool fits_here = log.virtual_comm.size == state().engine().epoch_state().roster.size() &&
                         spans_all_ranks(*log.comm) && !is_revoked(*log.comm);
  const bool can_begin = region == FENIX_MLOG_CONTINUE || log.regions.can_go_back_to(region);
  RegionLog::Position mine;
  if (region != FENIX_MLOG_CONTINUE && can_begin) {
    messages_.drop(log.virtual_comm);
    log.regions.go_back_to(region);
    mine = {!log.regions.has_messages(), region};
  }
  enum Obstacle : int { none, has_other_ranks, has_not_kept_region };
  struct Told {
    int id;
    Obstacle obstacle;
    int takes_counts;
    int region;
  };
  const Obstacle obstacle = !fits_here ? has_other_ranks : (can_begin ? none : has_not_kept_region);
  const Told told{id, obstacle, mine.takes_counts ? 1 : 0, mine.region};
  std::vector<Told> all(static_cast<std::size_t>(state().engine().epoch_state().roster.size()));
  call_mpi(
      [&] {
        return PMPI_Allgather(&told, sizeof told, MPI_BYTE, all.data(), sizeof told, MPI_BYTE, exchange_comm_.get());
      },
      "MPI_Allgather");
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].id != id)
      throw Refused(FENIX_ERROR_INVALID_LOGIC_CALL,
                    fmt::format("rank {} syncs message log {} while this one syncs {}", rank, all[rank].id, id));
    if (all[rank].obstacle == has_other_ranks)
      throw Refused(FENIX_ERROR_INVALID_LOGIC_CALL,
                    fmt::format("message log {} was created for other ranks, or its communicator was not re-created: "
                                "delete it, and create it again",
                                id));
    if (all[rank].obstacle == has_not_kept_region)
      throw Refused(FENIX_ERROR_NODATA_FOUND,
                    fmt::format("rank {} cannot go back in message log {} so far: create it with a larger depth, or "
                                "commit more often",
                                rank, id));
  }
  set_comms(log);
  std::vector<RegionLog::Position> positions;
  for (const Told& one : all) positions.push_back({one.takes_counts != 0, one.region});
  exchange(log, positions);
  messages_.begin_epoch(&log.virtual_comm);
  log.synced = epoch();
}

/// Exchanges what each rank has received, and sends missing messages again. Collective over the ranks.
void MessageLogs::exchange(Log& log, const std::vector<RegionLog::Position>& positions) {
  const int ranks = log.virtual_comm.size;
  const int self = log.virtual_comm.rank;
  const auto position_of = [&](int rank) -> const RegionLog::Position& {
    return positions[static_cast<std::size_t>(rank)];
  };
  const auto packet_for = [&](int peer) {
    const RegionLog::Report report = log.regions.report_for(peer, position_of(peer));
    std::vector<std::uint64_t> packet{report.is_lost ? 1U : 0U};
    put_counts(packet, report.received);
    put_counts(packet, report.received_then);
    put_counts(packet, report.sent_then);
    return packet;
  };
  std::vector<RegionLog::Report> reports;
  for (const auto& packet : exchange_words_with_all(exchange_comm_.get(), tag_of_exchange, packet_for)) {
    std::size_t at = 0;
    RegionLog::Report& report = reports.emplace_back();
    report.is_lost = packet.at(at++) != 0;
    report.received = counts_from(packet, at);
    report.received_then = counts_from(packet, at);
    report.sent_then = counts_from(packet, at);
  }
  // The lowest rank whose needed messages another rank has not kept.
  int short_of = ranks;
  for (int peer = ranks - 1; peer >= 0; --peer)
    if (!log.regions.can_serve(peer, position_of(peer), reports[static_cast<std::size_t>(peer)])) short_of = peer;
  call_mpi([&] { return PMPI_Allreduce(MPI_IN_PLACE, &short_of, 1, MPI_INT, MPI_MIN, exchange_comm_.get()); },
           "MPI_Allreduce");
  if (short_of != ranks) {
    throw Refused(
        FENIX_ERROR_NODATA_FOUND,
        fmt::format("rank {} needs messages again that message log {} does not keep any more: create it with a "
                    "larger depth, or commit more often",
                    short_of, log.id));
  }
  const bool takes_counts = position_of(self).takes_counts;
  for (int peer = 0; peer < ranks; ++peer) {
    const auto& report = reports[static_cast<std::size_t>(peer)];
    for (const replay::Resent& one : log.regions.hear(peer, position_of(peer), report, takes_counts)) {
      const auto traffic = static_cast<Traffic>(one.channel.context % 2);
      check_mpi(messages_.resend(log.virtual_comm.comm(traffic), peer, one.channel.tag, one.bytes), "MPI_Isend");
    }
  }
}

// --- from epoch to epoch ---------------------------------------------------------------------------------------

bool MessageLogs::recovers_in_place() const {
  const bool repairs = settings().recovery == FENIX_RECOVERY_REPAIR || settings().recovery == FENIX_RECOVERY_SPAWN;
  return active_ != nullptr && repairs && settings().mlog_recovery != FENIX_MLOG_RECOVERY_MANUAL;
}

void MessageLogs::end_epoch(bool keeps_receives) {
  messages_.end_epoch();
  retired_.clear();
  if (keeps_receives) return;
  for (const auto& [id, log] : logs_) messages_.drop(log->virtual_comm);
}

void MessageLogs::begin_epoch() {
  users_.clear();  // a communicator of before the failure may have the handle of another now
  // Made from mend's own communicator, because another rank may already have revoked the application's.
  MPI_Comm made = MPI_COMM_NULL;
  call_mpi([&] { return PMPI_Comm_dup(state().engine().epoch_state().store.get(), &made); }, "MPI_Comm_dup");
  state().engine().left_communicators().keep(std::exchange(exchange_comm_, Communicator(made)));
  state().engine().take_into_epoch(made);
  if (epoch() == Epoch{0}) return;
  int logged = std::ranges::any_of(logs_, [](const auto& one) { return one.second->regions.has_messages(); }) ? 1 : 0;
  call_mpi([&] { return PMPI_Allreduce(MPI_IN_PLACE, &logged, 1, MPI_INT, MPI_MAX, made); }, "MPI_Allreduce");
  nothing_was_logged_ = logged == 0;
}

bool MessageLogs::fits() const {
  const int ranks = state().engine().epoch_state().roster.size();
  return std::ranges::all_of(logs_, [&](const auto& one) { return one.second->virtual_comm.size == ranks; });
}

// --- calls -----------------------------------------------------------------------------------------------------

const VirtualComm* MessageLogs::virtual_comm_of(MPI_Comm comm) const {
  if (inside_ != 0 || active_ == nullptr || comm == MPI_COMM_NULL) return nullptr;
  const bool is_of_log = comm == active_->virtual_comm.comm(Traffic::messages) ||
                         (!is_synced(*active_) &&
                          comm == state().engine().epoch_state().application.get()) ||  // run() refuses this, or renews
                         (needs_no_sync(*active_) && comm == *active_->comm);
  return is_of_log ? &active_->virtual_comm : nullptr;
}

int MessageLogs::run(Call call, void* work) {
  bool has_resumed = false;
  int code = MPI_SUCCESS;
  {
    const Inside inside(inside_);
    Log* const log = active_;
    try {
      const ErrorsHandled as_in_cpp(OnError::throws);
      if (log != nullptr && needs_no_sync(*log)) renew(*log);
      if (log != nullptr && !is_synced(*log)) {
        throw UsageError(fmt::format(
            "message log {} is used before Fenix_Mlog_sync: after a failure all ranks sync it first", log->id));
      }
      if (log != nullptr) log->regions.begin_call();
      code = call(work);
      if (messages_.take_dropped()) return MPIX_ERR_REVOKED;  // a request from before a failure
      if (log != nullptr && log->regions.difference()) {
        const replay::Difference& difference = *log->regions.difference();
        throw UsageError(
            fmt::format("message {} to rank {} with tag {} or one before it has another content when it is sent again: "
                        "programs with message logs must be send-deterministic",
                        difference.number, difference.channel.peer, difference.channel.tag));
      }
    } catch (const RecoveredElsewhere&) {
      has_resumed = true;
      code = MPIX_ERR_PROC_FAILED;
    } catch (const ProcessFailure&) {
      code = MPIX_ERR_PROC_FAILED;
    } catch (const Refused& refused) {
      return refuse_in_program(refused.what());
    } catch (const UsageError& mistake) {
      return refuse_in_program(mistake.what());
    } catch (const EnvironmentError& error) {
      fail_stop(error.what());
    }
    if (code != MPI_SUCCESS && log != nullptr) log->regions.undo_call();
  }
  // The next call may leave by longjmp, so no object with a destructor may exist here.
  if (has_resumed) {
    fenix::resume();  // the program, not the logs
  } else if (code != MPI_SUCCESS) {
    handle_error(state().engine().epoch_state().application.get(), code);
  }
  return code;
}

/// Recovers from a failure that has interrupted a call. Returns when the call can continue.
void MessageLogs::recover_in_call() {
  if (!recovers_in_place()) throw ProcessFailure("a logged call");
  const int id = active();
  if (!go_on_in_place(false)) throw RecoveredElsewhere();
  const auto log = logs_.find(id);
  if (log != logs_.end() && needs_no_sync(*log->second)) renew(*log->second);
}

int MessageLogs::derive(const VirtualComm& /*parent*/, const CommArguments& /*arguments*/, MPI_Comm* /*made*/) {
  throw UsageError(
      "a communicator is made while a message log is active, which does not log that: deactivate it first");
}

int MessageLogs::derive_group(const VirtualComm& parent, const std::vector<int>& /*ranks*/, int /*tag*/,
                              MPI_Comm* made) {
  return derive(parent, {}, made);
}

const Recipe* MessageLogs::recipe_of(const VirtualComm& /*virtual_comm*/) const { return nullptr; }

int MessageLogs::free(MPI_Comm* comm) {
  const Inside inside(inside_);
  return PMPI_Comm_free(comm);
}

int MessageLogs::refuse(const char* call) const {
  return refuse_in_program(fmt::format("a message log does not cover {}: deactivate it first", call));
}

}  // namespace mend::fenix
