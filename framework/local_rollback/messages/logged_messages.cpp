#include "framework/local_rollback/messages/logged_messages.hpp"

#include "base/error.hpp"
#include "framework/local_rollback/plain_calls.hpp"
#include "framework/local_rollback/values.hpp"
#include "store/snapshot/hash.hpp"
#include "transport/mpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace mend {
namespace {

/// A message of at least this many bytes is copied into the log while it is sent.
constexpr int least_sent_meanwhile = 32 * 1024;

void pack(const void* data, int count, MPI_Datatype type, MPI_Comm comm, std::span<std::byte> into) {
  if (plain_size(type)) {
    if (!into.empty()) std::memcpy(into.data(), data, into.size());
    return;
  }
  int position = 0;
  quietly([&] { return PMPI_Pack(data, count, type, into.data(), static_cast<int>(into.size()), &position, comm); });
}

/// Packs values that are sent. What has no meaning is the same in every process, because messages are compared by their
/// hashes.
void pack_to_send(const void* data, int count, MPI_Datatype type, MPI_Comm comm, std::span<std::byte> into) {
  pack(data, count, type, comm, into);
  if (!plain_size(type)) clear_unused(into, type);
}

/// Returns MPI's code if it does not take values of this type, as one that is not committed.
int check_type(MPI_Datatype type, MPI_Comm comm) {
  if (plain_size(type)) return MPI_SUCCESS;
  int unused = 0;
  int position = 0;
  return quietly([&] { return PMPI_Pack(&unused, 0, type, &unused, 0, &position, comm); });  // packs nothing
}

/// A rank that rolls back may ask in vain for a message from any source this often, without sending anything.
constexpr int most_vain_polls = 100'000;

bool is_source(const VirtualComm& virtual_comm, int from) {
  return from == MPI_ANY_SOURCE || (from >= 0 && from < virtual_comm.size);
}

/// Returns the pattern of a receive, with ranks numbered as in session.comm().
replay::WildcardOrder::Pattern pattern_of(const VirtualComm& virtual_comm, int from, int tag) {
  using replay::WildcardOrder;
  return {from == MPI_ANY_SOURCE ? WildcardOrder::any : virtual_comm.member(from),
          virtual_comm.context(Traffic::messages), tag == MPI_ANY_TAG ? WildcardOrder::any : tag};
}

}  // namespace

int highest_tag() {
  static const int highest = [] {  // asked once, because ranks of a cluster need a tag in every call
    const int* found = nullptr;
    int is_there = 0;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&found), &is_there);
    return *found;
  }();
  return highest;
}

bool is_of_mpi(MPI_Datatype type) { return envelope_of(type).combiner == MPI_COMBINER_NAMED; }

std::optional<int> find_plain_size(MPI_Datatype type) {
  if (!is_of_mpi(type) || has_unused_bytes(type)) return std::nullopt;
  int size = 0;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  PMPI_Type_size(type, &size);
  PMPI_Type_get_extent(type, &lower, &extent);
  if (lower != 0 || extent != size) return std::nullopt;
  last_plain_type = {type, size};
  return size;
}

LoggedMessages::LoggedMessages(replay::MessageLog& log, std::function<void()> recover, UnsupportedText unsupported,
                               std::optional<AnySource> any_source)
    : log_(log), recover_(std::move(recover)), unsupported_(unsupported), any_source_(std::move(any_source)) {}

void LoggedMessages::note_source(int from, const char* call) {
  if (from != MPI_ANY_SOURCE) return;
  receives_from_any_ = true;
  if (any_source_) return;
  throw UsageError(fmt::format("{} was called with MPI_ANY_SOURCE, which {} not cover: name the source, or {}", call,
                               unsupported_.what, unsupported_.instead));
}

void LoggedMessages::refuse_large_message() const {
  throw UsageError(fmt::format("{} not cover messages of 2 GiB and more: send them in parts", unsupported_.what));
}

int LoggedMessages::packed_size(int count, MPI_Datatype type, MPI_Comm comm, int* size) const {
  const std::optional<int> one = plain_size(type);
  if (count < 0) return MPI_ERR_COUNT;
  constexpr int most = std::numeric_limits<int>::max();
  if (!one) {
    MPI_Count each = 0;
    if (const int code = quietly([&] { return size_of_type(type, each); }); code != MPI_SUCCESS) return code;
    if (count > 0 && each > most / count) refuse_large_message();
    return quietly([&] { return PMPI_Pack_size(count, type, comm, size); });
  }
  const long long all = static_cast<long long>(*one) * count;
  if (all > most) refuse_large_message();
  *size = static_cast<int>(all);
  return MPI_SUCCESS;
}

// --- sending ---------------------------------------------------------------------------------------------------

int LoggedMessages::send(const VirtualComm& virtual_comm, Traffic traffic, const void* data, int count,
                         MPI_Datatype type, int to, int tag, SendEnds ends) {
  return send(virtual_comm, traffic, data, count, type, to, tag, ends, nullptr);
}

/// `operation`: the operation that ends when the message has been received; may be null.
int LoggedMessages::send(const VirtualComm& virtual_comm, Traffic traffic, const void* data, int count,
                         MPI_Datatype type, int to, int tag, SendEnds ends, Operation* operation) {
  if (to == MPI_PROC_NULL) return MPI_SUCCESS;
  // What MPI would refuse must not count as sent.
  if (to < 0 || to >= virtual_comm.size) return MPI_ERR_RANK;
  if (tag < 0 || tag > highest_tag()) return MPI_ERR_TAG;
  const MPI_Comm comm = virtual_comm.comm(traffic);
  if (const int code = check_type(type, comm); code != MPI_SUCCESS) return code;
  int size = 0;
  if (const int code = packed_size(count, type, comm, &size); code != MPI_SUCCESS) return code;
  if (data == nullptr && size > 0 && plain_size(type)) return MPI_ERR_BUFFER;
  // A blocking send of plain values leaves from the application's memory, before it is copied into the log; but not one
  // to this rank itself, whose receive may be posted only when the message counts as sent (after_sending). A small one
  // that the receiver certainly needs leaves before the log is touched at all.
  const bool goes_first = ends == SendEnds::as_send && plain_size(type) && to != virtual_comm.rank;
  const bool is_small = size < least_sent_meanwhile;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  const auto leave = [&] {
    code = quietly([&] {
      return is_small ? library::send(data, count, type, to, tag, comm)
                      : library::begin_send(data, count, type, to, tag, comm, &request);
    });
    return code == MPI_SUCCESS || means_failure(comm, code);
  };
  const bool has_left = goes_first && is_small && log_.needs_all();
  if (has_left && !leave()) return code;  // it was not sent
  const replay::Channel channel{virtual_comm.member(to), virtual_comm.context(traffic), tag};
  const replay::MessageLog::Copy sent = log_.begin_send(channel, static_cast<std::size_t>(size));
  if (goes_first && !has_left && sent.needed && !leave()) return code;
  pack_to_send(data, count, type, comm, sent.bytes);
  log_.end_send(channel, sent.bytes);
  if (replay_) after_sending(channel);
  if (!sent.needed) return MPI_SUCCESS;
  if (operation != nullptr) operation->copy = sent.bytes;
  if (code == MPI_SUCCESS) {
    code = quietly([&] {
      if (goes_first) return request == MPI_REQUEST_NULL ? MPI_SUCCESS : library::wait(&request, MPI_STATUS_IGNORE);
      switch (ends) {
        case SendEnds::as_send: return library::send(sent.bytes.data(), size, MPI_PACKED, to, tag, comm);
        case SendEnds::as_synchronous: return PMPI_Ssend(sent.bytes.data(), size, MPI_PACKED, to, tag, comm);
        case SendEnds::at_once: break;
      }
      return operation == nullptr ? begin_send(sent.bytes, to, tag, comm)
                                  : begin_send(sent.bytes, to, tag, comm, *operation);
    });
  }
  if (code == MPI_SUCCESS || !means_failure(comm, code)) return code;
  recover_();  // this sends the message again
  return MPI_SUCCESS;
}

int LoggedMessages::begin_send(std::span<const std::byte> bytes, int to, int tag, MPI_Comm comm) {
  constexpr std::size_t many = 64;
  if (sends_.size() >= many) forget_ended_sends();
  MPI_Request request = MPI_REQUEST_NULL;
  const int code =
      library::begin_send(bytes.data(), static_cast<int>(bytes.size()), MPI_PACKED, to, tag, comm, &request);
  if (request != MPI_REQUEST_NULL) keep_send(request, bytes);
  return code;
}

void LoggedMessages::keep_send(MPI_Request send, std::span<const std::byte> bytes) {
  sends_.push_back(send);
  sent_from_.push_back(bytes.data());
}

void LoggedMessages::forget_ended_sends() {
  std::vector<int> ended(sends_.size());
  int count = 0;
  library::test_some(static_cast<int>(sends_.size()), sends_.data(), &count, ended.data());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < sends_.size(); ++i) {
    if (sends_[i] == MPI_REQUEST_NULL) continue;
    sends_[kept] = sends_[i];
    sent_from_[kept++] = sent_from_[i];
  }
  sends_.resize(kept);
  sent_from_.resize(kept);
}

std::vector<const std::byte*> LoggedMessages::sends_under_way() {
  if (!sends_.empty()) {
    const ErrorsReturned quiet;
    forget_ended_sends();
  }
  std::vector<const std::byte*> under_way = sent_from_;
  for (const Operation& one : operations_)
    if (one.send != MPI_REQUEST_NULL) under_way.push_back(one.copy.data());
  return under_way;
}

/// The requests of copies have ended, or are nobody's any more.
void LoggedMessages::forget_sends() {
  sends_.clear();
  sent_from_.clear();
}

int LoggedMessages::resend(MPI_Comm comm, int to, int tag, std::span<const std::byte> bytes) {
  const auto waiting = std::ranges::find_if(
      operations_, [&](const Operation& one) { return one.copy.data() != nullptr && one.copy.data() == bytes.data(); });
  return waiting == operations_.end() ? begin_send(bytes, to, tag, comm) : begin_send(bytes, to, tag, comm, *waiting);
}

// --- receiving -------------------------------------------------------------------------------------------------

void LoggedMessages::note(const VirtualComm& virtual_comm, Traffic traffic, int from, const MPI_Status& status,
                          const void* data, int count, MPI_Datatype type, bool by_request) {
  const replay::Channel channel{virtual_comm.member(from), virtual_comm.context(traffic), status.MPI_TAG};
  int received = 0;
  PMPI_Get_count(&status, MPI_BYTE, &received);
  const auto bytes = static_cast<std::size_t>(received);
  if (traffic == Traffic::collectives && received < bytes_of(count, type)) was_too_short_ = true;
  if (plain_size(type)) return log_.receive(channel, {static_cast<const std::byte*>(data), bytes}, by_request);
  // No more than what has come, if that is whole values
  const long long each = bytes_of(1, type);
  if (each > 0 && received % each == 0) count = static_cast<int>(received / each);
  int size = 0;
  packed_size(count, type, virtual_comm.comm(traffic), &size);
  packed_.resize(static_cast<std::size_t>(size));
  pack(data, count, type, virtual_comm.comm(traffic), packed_);
  log_.receive(channel, std::span<const std::byte>(packed_).first(bytes), by_request);
}

/// Remembers that a message was longer than its receive. It is not noted as received.
void LoggedMessages::note_if_cut(int code) {
  int error_class = MPI_SUCCESS;
  PMPI_Error_class(code, &error_class);
  was_cut_ = was_cut_ || error_class == MPI_ERR_TRUNCATE;
}

/// Remembers that a call for a request or matched message on this communicator fails if `code`, which it returns, says
/// so.
int LoggedMessages::noted_if_failed(int code, const VirtualComm& on) {
  if (code != MPI_SUCCESS) failed_on_ = &on;
  return code;
}

int LoggedMessages::receive(const VirtualComm& virtual_comm, Traffic traffic, void* data, int count, MPI_Datatype type,
                            int from, int tag, MPI_Status* status) {
  note_source(from, "a receive");
  if (traffic == Traffic::messages) name_probed(virtual_comm, &from, &tag);
  const bool has_message = from != MPI_PROC_NULL;
  for (;;) {
    const MPI_Comm comm = virtual_comm.comm(traffic);
    const bool chooses = replay_ && traffic == Traffic::messages && is_source(virtual_comm, from);
    const Choice choice = chooses ? choose_now(virtual_comm, from, tag) : Choice{from, tag};
    MPI_Status got{};
    int code = quietly([&] { return library::receive(data, count, type, choice.from, choice.tag, comm, &got); });
    if (code == MPI_SUCCESS) {
      const Try earlier = has_message
                              ? finish_earlier(virtual_comm, traffic, got.MPI_SOURCE, got.MPI_TAG, nullptr, &code)
                              : Try::complete;
      if (earlier == Try::failed) return code;
      if (earlier == Try::complete) {
        if (has_message) note(virtual_comm, traffic, got.MPI_SOURCE, got, data, count, type, false);
        if (status != MPI_STATUS_IGNORE) *status = got;
        return MPI_SUCCESS;
      }
    } else if (!means_failure(comm, code)) {
      note_if_cut(code);
      return code;
    }
    recover_();
  }
}

int LoggedMessages::probe(const VirtualComm& virtual_comm, int from, int tag, int* flag, MPI_Status* status) {
  MPI_Status found{};
  for (;;) {
    int code = find_message(virtual_comm, from, tag, flag, &found);
    if (code != MPI_SUCCESS || (flag != nullptr && *flag == 0)) return code;
    if (from == MPI_PROC_NULL || !any_source_) break;
    // The messages before it on its channel belong to receives that were posted before. They are noted first.
    const Try earlier =
        finish_earlier(virtual_comm, Traffic::messages, found.MPI_SOURCE, found.MPI_TAG, nullptr, &code);
    if (earlier == Try::failed) return code;
    if (earlier == Try::complete) {
      note_found(virtual_comm, from, tag, found);
      break;
    }
    recover_();
  }
  if (status != MPI_STATUS_IGNORE) *status = found;
  return MPI_SUCCESS;
}

/// Notes the message that a probe has found: what this rank sends from now on may depend on it.
void LoggedMessages::note_found(const VirtualComm& virtual_comm, int from, int tag, const MPI_Status& found) {
  const std::uint32_t context = virtual_comm.context(Traffic::messages);
  log_.found({virtual_comm.member(found.MPI_SOURCE), context, found.MPI_TAG});
  if (from == MPI_ANY_SOURCE) probed_ = {context, tag, found.MPI_SOURCE, found.MPI_TAG};
}

/// Called with the source and tag of a receive. If a probe with the same arguments has found its message, names that
/// message: after a recovery, MPI may have another one first.
void LoggedMessages::name_probed(const VirtualComm& virtual_comm, int* from, int* tag) {
  if (!probed_ || probed_->context != virtual_comm.context(Traffic::messages)) return;
  const bool fits =
      (*from == MPI_ANY_SOURCE || *from == probed_->source) && (*tag == MPI_ANY_TAG || *tag == probed_->tag);
  if (!fits) return;
  if (*from == MPI_ANY_SOURCE && (*tag == probed_->asked_tag || *tag == probed_->tag)) {
    *from = probed_->source;
    *tag = probed_->tag;
  }
  probed_.reset();
}

/// Finds a message as MPI_Probe, or as MPI_Iprobe if there is a flag.
int LoggedMessages::find_message(const VirtualComm& virtual_comm, int from, int tag, int* flag, MPI_Status* status) {
  note_source(from, "a probe");
  for (;;) {
    const MPI_Comm comm = virtual_comm.comm(Traffic::messages);
    const bool waits = flag == nullptr;
    Choice choice{from, tag};
    if (replay_ && is_source(virtual_comm, from)) {
      choice = waits ? look(virtual_comm, from, tag) : poll(virtual_comm, from, tag);
      if (choice.waits && waits) give_up(choice);
      if (choice.waits) {
        poll_in_vain(choice);
        *flag = 0;
        return MPI_SUCCESS;
      }
    }
    const bool comes = waits || choice.is_logged;
    const int code = quietly([&] {
      return comes ? PMPI_Probe(choice.from, choice.tag, comm, status)
                   : PMPI_Iprobe(choice.from, choice.tag, comm, flag, status);
    });
    if (code == MPI_SUCCESS && comes && !waits) *flag = 1;
    if (code == MPI_SUCCESS || !means_failure(comm, code)) return code;
    recover_();
  }
}

int LoggedMessages::begin_receive(const VirtualComm& virtual_comm, void* data, int count, MPI_Datatype type, int from,
                                  int tag, MPI_Request* request) {
  note_source(from, "MPI_Irecv");
  if (from == MPI_PROC_NULL) {
    return quietly(
        [&] { return PMPI_Irecv(data, count, type, from, tag, virtual_comm.comm(Traffic::messages), request); });
  }
  if (type == MPI_DATATYPE_NULL) return MPI_ERR_TYPE;
  name_probed(virtual_comm, &from, &tag);
  Receive& receive =
      receives_.emplace_back(Receive{&virtual_comm, data, count, std::make_shared<KeptType>(type), from, tag});
  int code = post(receive);
  if (code != MPI_SUCCESS && means_failure(virtual_comm.comm(Traffic::messages), code)) {
    try {
      recover_();  // this posts the receive again
    } catch (...) {
      take_back(receive);
      throw;
    }
    code = MPI_SUCCESS;
  }
  if (code == MPI_SUCCESS) code = PMPI_Grequest_start(&fill_status, &let_go, &ignore_cancel, &receive, &receive.handle);
  if (code != MPI_SUCCESS) {
    receives_.pop_back();
    return code;
  }
  // Its callbacks find the list by their own entry.
  by_handle_[receive.handle] = std::prev(receives_.end());
  *request = receive.handle;
  return MPI_SUCCESS;
}

/// Undoes a receive that has no handle yet, because the call that begins it fails. The recovery may have removed it.
void LoggedMessages::take_back(const Receive& begun) {
  const auto found = std::ranges::find_if(
      receives_, [&](const Receive& one) { return &one == &begun && one.handle == MPI_REQUEST_NULL; });
  if (found == receives_.end()) return;
  const ErrorsReturned quiet;
  withdraw(found->beneath);
  receives_.erase(found);
}

/// Posts the receive to MPI. In a rank that rolls back, it may have to wait until its source is chosen.
int LoggedMessages::post(Receive& receive) {
  Choice choice{receive.from, receive.tag};
  if (replay_ && receive.traffic == Traffic::messages && is_source(*receive.virtual_comm, receive.from)) {
    receive.number = ++receives_so_far_;
    choice = choose(*receive.virtual_comm, receive.from, receive.tag, receive.number);
  }
  receive.waits_for_choice = choice.waits;
  receive.chosen = choice;
  return choice.waits ? MPI_SUCCESS : post_chosen(receive);
}

int LoggedMessages::post_chosen(Receive& receive) {
  return quietly([&] {
    return library::begin_receive(receive.data, receive.count, receive.type->get(), receive.chosen.from,
                                  receive.chosen.tag, receive.virtual_comm->comm(receive.traffic), &receive.beneath);
  });
}

int LoggedMessages::fill_status(void* receive, MPI_Status* status) {
  const MPI_Status& got = static_cast<const Receive*>(receive)->status;
  int bytes = 0;
  PMPI_Get_elements(&got, MPI_BYTE, &bytes);
  PMPI_Status_set_elements(status, MPI_BYTE, bytes);
  int is_cancelled = 0;
  PMPI_Test_cancelled(&got, &is_cancelled);
  PMPI_Status_set_cancelled(status, is_cancelled);
  status->MPI_SOURCE = got.MPI_SOURCE;
  status->MPI_TAG = got.MPI_TAG;
  return MPI_SUCCESS;
}

int LoggedMessages::let_go(void*) { return MPI_SUCCESS; }

int LoggedMessages::ignore_cancel(void*, int) { return MPI_SUCCESS; }

int LoggedMessages::cancel(MPI_Request request) {
  const auto persistent = persistent_.find(request);
  Receive* const receive = find(persistent == persistent_.end() ? request : persistent->second.begun);
  if (receive == nullptr || receive->is_complete) return MPI_SUCCESS;
  for (;;) {
    int code = MPI_SUCCESS;
    if (std::exchange(receive->waits_for_choice, false)) {
      replay_->order->drop(receive->number);
      PMPI_Status_set_cancelled(&receive->status, 1);
      receive->is_complete = true;
      post_answered();
      return PMPI_Grequest_complete(receive->handle);
    }
    if (receive->beneath != MPI_REQUEST_NULL) code = quietly([&] { return PMPI_Cancel(&receive->beneath); });
    if (code != MPI_SUCCESS) return noted_if_failed(code, *receive->virtual_comm);
    switch (finish(*receive, true, &code)) {
      case Try::complete: return MPI_SUCCESS;
      case Try::failed: return code;
      default: recover_();
    }
  }
}

// --- completing ------------------------------------------------------------------------------------------------

LoggedMessages::Receive* LoggedMessages::find(MPI_Request request) const {
  const auto known = by_handle_.find(request);
  return known == by_handle_.end() ? nullptr : &*known->second;
}

bool LoggedMessages::has_any(std::span<const MPI_Request> requests) const {
  if (by_handle_.empty() && by_operation_.empty()) return false;
  return std::ranges::any_of(requests, [&](MPI_Request one) {
    const auto persistent = persistent_.find(one);
    return is_own(one) || (persistent != persistent_.end() && persistent->second.begun != MPI_REQUEST_NULL);
  });
}

/// Completes the receives that were posted before `before`, and whose messages came earlier than one from `from` with
/// `tag`.
LoggedMessages::Try LoggedMessages::finish_earlier(const VirtualComm& virtual_comm, Traffic traffic, int from, int tag,
                                                   const Receive* before, int* code) {
  for (Receive& one : receives_) {
    if (&one == before) break;
    const bool fits = (one.from == from || one.from == MPI_ANY_SOURCE) && (one.tag == tag || one.tag == MPI_ANY_TAG);
    if (one.is_complete || one.waits_for_choice || one.virtual_comm != &virtual_comm || one.traffic != traffic || !fits)
      continue;
    if (const Try how = finish(one, true, code); how != Try::complete) return how;
  }
  return Try::complete;
}

LoggedMessages::Try LoggedMessages::finish(Receive& receive, bool waits, int* code) {
  completed_dropped_ = completed_dropped_ || receive.is_dropped;
  if (receive.is_complete) return Try::complete;
  if (receive.waits_for_choice) {
    if (waits) give_up(receive.chosen);
    poll_in_vain(receive.chosen);
    return Try::waits;
  }
  if (receive.beneath == MPI_REQUEST_NULL) return Try::interrupted;  // its message was not noted
  if (!waits && is_early(receive)) {
    poll_in_vain({.from = receive.from, .tag = receive.tag, .waits = true, .is_logged = true});
    return Try::waits;
  }
  MPI_Status got{};
  int has_come = 1;
  *code = quietly(
      [&] { return waits ? library::wait(&receive.beneath, &got) : library::test(&receive.beneath, &has_come, &got); });
  if (*code != MPI_SUCCESS) {
    if (means_failure(receive.virtual_comm->comm(receive.traffic), *code)) return Try::interrupted;
    note_if_cut(noted_if_failed(*code, *receive.virtual_comm));
    return Try::failed;
  }
  if (has_come == 0) return Try::waits;
  int is_cancelled = 0;
  PMPI_Test_cancelled(&got, &is_cancelled);
  if (is_cancelled == 0) {
    const Try earlier =
        finish_earlier(*receive.virtual_comm, receive.traffic, got.MPI_SOURCE, got.MPI_TAG, &receive, code);
    if (earlier != Try::complete) return earlier;
    note(*receive.virtual_comm, receive.traffic, got.MPI_SOURCE, got, receive.data, receive.count, receive.type->get(),
         true);
  }
  receive.status = got;
  receive.is_complete = true;
  if (receive.handle != MPI_REQUEST_NULL) PMPI_Grequest_complete(receive.handle);
  return Try::complete;
}

LoggedMessages::Try LoggedMessages::finish(MPI_Request request, bool waits, int* code) {
  if (Receive* const receive = find(request)) return finish(*receive, waits, code);
  return finish(*by_operation_.at(request), waits, code);
}

int LoggedMessages::finish(std::span<const MPI_Request> requests) {
  for (const MPI_Request request : requests) {
    if (!is_own(request)) continue;
    int code = MPI_SUCCESS;
    for (Try how = Try::waits; how != Try::complete;) {
      how = finish(request, true, &code);
      if (how == Try::failed) return code;
      if (how == Try::interrupted) recover_();
    }
  }
  return MPI_SUCCESS;
}

int LoggedMessages::try_to_finish(std::span<const MPI_Request> requests) {
  for (const MPI_Request request : requests) {
    if (!is_own(request)) continue;
    int code = MPI_SUCCESS;
    switch (finish(request, false, &code)) {
      case Try::failed: return code;
      case Try::interrupted: recover_(); break;
      default: break;
    }
  }
  return MPI_SUCCESS;
}

void LoggedMessages::forget(std::span<const MPI_Request> before, std::span<const MPI_Request> after) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] == after[i]) continue;
    if (const auto operation = by_operation_.find(before[i]); operation != by_operation_.end())
      remove(operation->second);
    const auto known = by_handle_.find(before[i]);
    if (known == by_handle_.end()) continue;
    receives_.erase(known->second);
    by_handle_.erase(known);
  }
}

// --- the order in a rank that rolls back -----------------------------------------------------------------------

/// Returns the choice for a receive or probe to which the order has given this answer.
LoggedMessages::Choice LoggedMessages::choice_by(const replay::WildcardOrder::Answer& answer,
                                                 const VirtualComm& virtual_comm, int from, int tag) {
  switch (answer.match) {
    case replay::WildcardOrder::Match::logged:
      return {.from = virtual_comm.rank_of(answer.envelope.source), .tag = answer.envelope.tag, .is_logged = true};
    case replay::WildcardOrder::Match::beyond: return {from, tag};
    case replay::WildcardOrder::Match::early: return {.from = from, .tag = tag, .waits = true, .is_logged = true};
    case replay::WildcardOrder::Match::waits: break;
    case replay::WildcardOrder::Match::never: return {.from = from, .tag = tag, .waits = true, .in_vain = true};
  }
  return {.from = from, .tag = tag, .waits = true};
}

/// `ask` asks the order about a pattern.
template <class Ask>
LoggedMessages::Choice LoggedMessages::choice_of(const VirtualComm& virtual_comm, int from, int tag, Ask ask) {
  if (!replay_->order) {
    const Choice as_asked{from, tag};
    if (from == MPI_ANY_SOURCE) give_up(as_asked);
    return as_asked;
  }
  return choice_by(ask(pattern_of(virtual_comm, from, tag)), virtual_comm, from, tag);
}

/// Chooses the message of a receive.
LoggedMessages::Choice LoggedMessages::choose(const VirtualComm& virtual_comm, int from, int tag,
                                              std::uint64_t number) {
  return choice_of(virtual_comm, from, tag, [&](const auto& pattern) { return replay_->order->post(number, pattern); });
}

/// Chooses the message of a blocking receive.
LoggedMessages::Choice LoggedMessages::choose_now(const VirtualComm& virtual_comm, int from, int tag) {
  const Choice choice = choose(virtual_comm, from, tag, ++receives_so_far_);
  if (choice.waits) give_up(choice);
  return choice;
}

/// Chooses the message of a probe.
LoggedMessages::Choice LoggedMessages::look(const VirtualComm& virtual_comm, int from, int tag) {
  return choice_of(virtual_comm, from, tag, [&](const auto& pattern) { return replay_->order->look(pattern); });
}

/// Chooses the message of a probe that does not block.
LoggedMessages::Choice LoggedMessages::poll(const VirtualComm& virtual_comm, int from, int tag) {
  return choice_of(virtual_comm, from, tag, [&](const auto& pattern) { return replay_->order->poll(pattern); });
}

/// Returns true if the message of the receive has not arrived in the order of the replay.
bool LoggedMessages::is_early(const Receive& receive) const {
  return replay_ && replay_->order && !replay_->order->has_arrived(receive.number);
}

void LoggedMessages::after_sending(const replay::Channel& channel) {
  replay_->vain_polls = 0;
  if (replay_->order) {
    replay_->order->sent(channel);
    post_answered();
  }
  if (replay_->is_over || any_source_->is_behind()) return;
  caught_up_ = true;
  replay_->is_over = true;
  if (replay_->alone) end_replay();
}

/// Posts the receives that need not wait any more. If a failure prevents that, they are posted after the recovery.
void LoggedMessages::post_answered() {
  for (const auto& [number, answer] : replay_->order->take_answered()) {
    const auto receive = std::ranges::find(receives_, number, &Receive::number);
    if (receive == receives_.end()) continue;  // the call that has begun it has failed
    receive->chosen = choice_by(answer, *receive->virtual_comm, receive->from, receive->tag);
    receive->waits_for_choice = receive->chosen.waits;
    if (!receive->waits_for_choice) post_chosen(*receive);
  }
}

void LoggedMessages::begin_replay(std::optional<replay::WildcardOrder> order, bool alone) {
  replay_.emplace(Replay{std::move(order), alone});
}

/// Ends the replay. From now on MPI's own order is right.
void LoggedMessages::end_replay() {
  replay_.reset();
  for (Receive& receive : receives_)
    if (std::exchange(receive.waits_for_choice, false)) post_chosen(receive);
}

/// Gives up because of a receive or probe that cannot be answered.
void LoggedMessages::give_up(const Choice& choice) {
  const char* reason =
      "it receives from MPI_ANY_SOURCE what others have sent before, and no order is known to be right";
  if (choice.in_vain) reason = "it waits for a message that its source has sent only after the next commit";
  if (choice.is_logged) reason = "it polls in vain for a message, and does not send what it has sent before";
  any_source_->give_up(reason);
  throw ProcessFailure("all ranks go back to the last commit");
}

/// Called when nothing is there for a poll. If nothing comes in this phase, that is certain, and the poll may be
/// repeated as often as the program wants.
void LoggedMessages::poll_in_vain(const Choice& choice) {
  if (choice.in_vain || ++replay_->vain_polls < most_vain_polls) return;
  if (!waits_for_logged()) give_up(choice);
  replay_->vain_polls = 0;
}

/// Returns true if a message of the log is on its way to a receive. It arrives without anything that this rank does,
/// and the program may then send what is needed.
bool LoggedMessages::waits_for_logged() const {
  return std::ranges::any_of(receives_, [](const Receive& one) {
    if (one.is_complete || !one.chosen.is_logged || one.beneath == MPI_REQUEST_NULL) return false;
    int has_come = 1;
    quietly([&] { return PMPI_Request_get_status(one.beneath, &has_come, MPI_STATUS_IGNORE); });
    return has_come == 0;
  });
}

// --- from epoch to epoch ---------------------------------------------------------------------------------------

void LoggedMessages::end_epoch() {
  const ErrorsReturned quiet;
  for (MPI_Request& send : sends_) PMPI_Wait(&send, MPI_STATUS_IGNORE);
  forget_sends();
  for (Receive& receive : receives_) {
    if (receive.beneath != MPI_REQUEST_NULL) PMPI_Wait(&receive.beneath, MPI_STATUS_IGNORE);
    receive.waits_for_choice = false;
  }
  for (Operation& one : operations_) {
    if (one.send == MPI_REQUEST_NULL) continue;
    if (PMPI_Wait(&one.send, MPI_STATUS_IGNORE) == MPI_SUCCESS) one.copy = {};  // it was received
  }
}

void LoggedMessages::begin_epoch(const VirtualComm* virtual_comm) {
  for (Receive& receive : receives_) {
    if (receive.is_complete || (virtual_comm != nullptr && receive.virtual_comm != virtual_comm)) continue;
    check_mpi(post(receive), "MPI_Irecv");
  }
  // The receiver has all messages that were not sent again.
  for (Operation& one : operations_)
    if (one.send == MPI_REQUEST_NULL && (virtual_comm == nullptr || one.virtual_comm == virtual_comm)) one.copy = {};
}

void LoggedMessages::drop(const VirtualComm& virtual_comm) {
  const ErrorsReturned quiet;
  for (Receive& receive : receives_) {
    if (receive.is_complete || receive.virtual_comm != &virtual_comm) continue;
    withdraw(receive.beneath);
    receive.status.MPI_SOURCE = receive.from;
    receive.status.MPI_TAG = receive.tag;
    PMPI_Status_set_cancelled(&receive.status, 1);
    receive.is_complete = receive.is_dropped = true;
    if (receive.handle != MPI_REQUEST_NULL) PMPI_Grequest_complete(receive.handle);
  }
  for (Operation& one : operations_) {
    if (one.is_complete || one.virtual_comm != &virtual_comm) continue;
    if (one.send != MPI_REQUEST_NULL) keep_send(std::exchange(one.send, MPI_REQUEST_NULL), one.copy);
    one.copy = {};
    one.is_dropped = true;
    complete(one);
  }
}

void LoggedMessages::leave_requests() {
  static auto& kept = *new Receives;  // the application may still complete them, and MPI asks for their statuses then
  kept.splice(kept.end(), receives_);
  by_handle_.clear();
  const ErrorsReturned quiet;
  for (MPI_Request& send : sends_) PMPI_Request_free(&send);
  forget_sends();
}

void LoggedMessages::settle() {
  quietly([&] { return PMPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE); });
  forget_sends();
}

}  // namespace mend
