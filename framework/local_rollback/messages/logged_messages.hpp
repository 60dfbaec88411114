// Point-to-point messages that are sent again after a recovery. Each is packed into the log (replay/message_log.hpp)
// before it is sent. MPI_Send and MPI_Rsend of plain values, unless to this rank itself, send first. Then they copy the
// values into the log, while a long message is still on its way. A call that a failure interrupts recovers and then
// continues.
//
// A non-blocking send is complete at once, because the copy in the log is sent. So only receives are kept until the
// application has completed them. The application's request is a generalized request. Beneath it is a receive of the
// epoch, which is posted again after a recovery.
//
// Other operations have a generalized request too (logged_operations.cpp). A synchronous send is sent again until its
// receiver has it. The messages that a non-blocking collective call sends are complete at once, too; the call ends when
// all messages that it receives have arrived. A matched message (logged_matched.cpp) is received when it is matched;
// the application gets one of mend's own handles, for a copy.
//
// The application's persistent request is an MPI request with MPI_PROC_NULL, which exists until the application frees
// it. For a started receive, mend has a request as described above; a send is complete once it is started.
//
// In a rank that rolls back, a receive from any source takes one of the messages that have arrived, as
// replay/wildcard_order.hpp decides, until the rank has sent all messages that the others have. Its receives are posted
// to MPI when their source is chosen. If no order is known to be right, all ranks roll back. A call that polls does not
// complete a receive whose logged message has not arrived in that order.
//
// A message that a probe from any source has found is the next one that a receive with the same arguments takes, also
// if a recovery comes in between: then the receive names its source and tag.
//
// A receive counts as received when it is noted in the log, and receives of a channel are noted in the order in which
// their messages came. Messages that were not noted before a recovery are sent and received again.

#pragma once

#include "framework/local_rollback/plain_calls.hpp"
#include "framework/local_rollback/virtual_comm.hpp"
#include "replay/message_log.hpp"
#include "replay/wildcard_order.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mend {

class LoggedMessages {
 public:
  /// The moment at which a send ends: when the copy is made, or as MPI_Send, or as MPI_Ssend.
  enum class SendEnds : std::uint8_t { at_once, as_send, as_synchronous };

  /// An expected message of a non-blocking collective call.
  struct Expected {
    int from;
    void* data;
    int count;
    MPI_Datatype type;
  };

  /// The error text for a call that is not supported: the feature that does not support it, and the alternative.
  struct UnsupportedText {
    std::string_view what;
    std::string_view instead;
  };

  /// For receives from any source. Messages that are sent again do not come in the order of the first time.
  struct AnySource {
    std::function<bool()> is_behind;           ///< others have messages of this rank that it has not sent again
    std::function<void(std::string)> give_up;  ///< called with the reason when all ranks have to roll back; throws
  };

  /// `recover` is called when a failure has interrupted a call; it calls end_epoch, resend and begin_epoch, or throws.
  /// Without `any_source`, MPI_ANY_SOURCE is refused, and begin_replay() must not be called.
  LoggedMessages(replay::MessageLog& log, std::function<void()> recover, UnsupportedText unsupported,
                 std::optional<AnySource> any_source = {});
  ~LoggedMessages();
  LoggedMessages(const LoggedMessages&) = delete;
  LoggedMessages& operator=(const LoggedMessages&) = delete;

  // The same as MPI's calls, whose codes they return. They throw what `recover` throws, and UsageError for calls that
  // are not covered.
  int send(const VirtualComm& virtual_comm, Traffic traffic, const void* data, int count, MPI_Datatype type, int to,
           int tag, SendEnds ends);
  int receive(const VirtualComm& virtual_comm, Traffic traffic, void* data, int count, MPI_Datatype type, int from,
              int tag, MPI_Status* status);
  int begin_receive(const VirtualComm& virtual_comm, void* data, int count, MPI_Datatype type, int from, int tag,
                    MPI_Request* request);
  int begin_synchronous_send(const VirtualComm& virtual_comm, const void* data, int count, MPI_Datatype type, int to,
                             int tag, MPI_Request* request);
  /// Makes a request that is complete when all messages of `expected` have come and `at_end`, which returns MPI's code,
  /// was called.
  int begin_operation(const VirtualComm& virtual_comm, std::span<const Expected> expected, std::function<int()> at_end,
                      MPI_Request* request);
  /// The same as MPI_Mprobe if `flag` is null, and as MPI_Improbe otherwise.
  int match(const VirtualComm& virtual_comm, int from, int tag, int* flag, MPI_Message* message, MPI_Status* status);
  bool is_matched(MPI_Message message) const { return matched_.contains(message); }
  int receive_matched(void* data, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status);
  int begin_receive_matched(void* data, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request);
  /// Makes a persistent request, which start() begins. `ends`: nothing for a receive.
  int make_persistent(const VirtualComm& virtual_comm, const void* data, int count, MPI_Datatype type, int peer,
                      int tag, std::optional<SendEnds> ends, MPI_Request* request);
  /// Makes a persistent request on `virtual_comm`, which `begin` begins as a request of its own. `begin` makes an
  /// intercepted call.
  int make_persistent(const VirtualComm& virtual_comm, std::function<int(MPI_Request*)> begin, MPI_Request* request);
  bool is_persistent(MPI_Request request) const { return persistent_.contains(request); }
  int start(MPI_Request request);
  /// Starts the request if it was made with `begin`, and returns MPI's code; otherwise returns nothing. Not inside an
  /// intercepted call.
  std::optional<int> begin_persistent(MPI_Request request);
  int free_persistent(MPI_Request* request);
  /// Frees a request of begin_...() that is complete, as a cancelled receive is.
  int free_begun(MPI_Request* request);
  /// Cancels a receive of begin_receive() or start(), if its message has not come.
  int cancel(MPI_Request request);
  int probe(const VirtualComm& virtual_comm, int from, int tag, int* flag, MPI_Status* status);

  /// Replaces started persistent requests by the requests that carry out their operations, so that MPI's own call can
  /// complete them. The destructor puts the persistent requests back.
  class PersistentReplaced {
   public:
    PersistentReplaced(LoggedMessages& messages, std::span<MPI_Request> requests);
    ~PersistentReplaced();
    PersistentReplaced(const PersistentReplaced&) = delete;
    PersistentReplaced& operator=(const PersistentReplaced&) = delete;

   private:
    LoggedMessages& messages_;
    std::span<MPI_Request> requests_;
    std::vector<std::pair<std::size_t, MPI_Request>> replaced_;  // where, and what stood there
  };

  /// Returns true if one of the requests was made by begin_...() or start().
  bool has_any(std::span<const MPI_Request> requests) const;
  /// Completes those of `requests` that were made by begin_...(), so that MPI's own call finds them complete.
  int finish(std::span<const MPI_Request> requests);
  /// The same for the requests that can be completed now.
  int try_to_finish(std::span<const MPI_Request> requests);

  /// Forgets the requests that are gone after MPI's own call has turned `before` into `after`. Local.
  void forget(std::span<const MPI_Request> before, std::span<const MPI_Request> after);

  /// Returns true if there are requests or matched messages that the application has not completed. Local.
  bool has_pending() const { return !receives_.empty() || !operations_.empty() || !matched_.empty(); }

  /// Returns true if something may be under way on the communicators. Local.
  bool uses_communicators() const { return !sends_.empty() || !receives_.empty() || !operations_.empty(); }
  /// Called when the communicators of the epoch were revoked. Nothing uses them any more when this returns. Local.
  void end_epoch();
  /// Sends a message of the log again. Local.
  int resend(MPI_Comm comm, int to, int tag, std::span<const std::byte> bytes);
  /// Posts the incomplete receives again: those of `virtual_comm`, or all. Local.
  void begin_epoch(const VirtualComm* virtual_comm = nullptr);
  /// Ends all incomplete requests on `virtual_comm` with an error. Local.
  void drop(const VirtualComm& virtual_comm);
  /// Returns true if the call that ends now has completed a dropped request. Local.
  bool take_dropped() { return std::exchange(completed_dropped_, false); }
  /// Returns true once if a message of a collective call was shorter than what the call expects. Local.
  bool take_too_short() { return std::exchange(was_too_short_, false); }
  /// Returns true once if a message was longer than its receive, and so is not noted as received. Local.
  bool take_cut() { return std::exchange(was_cut_, false); }
  /// Returns the communicator of the request or matched message for which a call has failed since this was called last;
  /// null if there was none. It may have been freed. Local.
  const VirtualComm* take_failed() { return std::exchange(failed_on_, nullptr); }
  /// Returns true if there is a persistent request on a communicator for which `is_one` returns true. Local.
  template <class IsOne>
  bool has_persistent_on(IsOne is_one) const {
    return std::ranges::any_of(persistent_, [&](const auto& one) { return is_one(*one.second.virtual_comm); });
  }
  /// Returns where the copies begin that are being sent. Local.
  std::vector<const std::byte*> sends_under_way();

  /// Begins the replay in a rank that rolls back. `order`: nothing if the order in which its messages may come is
  /// not known. `alone`: no other rank rolls back with it, so it has caught up when it has sent all messages that the
  /// others have. Local.
  void begin_replay(std::optional<replay::WildcardOrder> order, bool alone);
  void end_replay();
  /// Returns true while this rank rolls back, or the order in which it may receive is not known. Local.
  bool replays() const { return replay_.has_value(); }
  /// Returns true once, when this rank has rolled back and has sent all messages that the others have. Local.
  bool take_caught_up() { return std::exchange(caught_up_, false); }
  /// Returns true if this rank has ever received from any source. Local.
  bool receives_from_any() const { return receives_from_any_; }
  /// Called when every message was received. Nothing uses the log any more when this returns. Local.
  void settle();
  /// Leaves dropped requests to the application, and copies that are being sent to MPI: the copies must stay until the
  /// process ends. Local.
  void leave_requests();

 private:
  struct Choice {
    int from = MPI_ANY_SOURCE;
    int tag = MPI_ANY_TAG;
    bool waits = false;
    bool in_vain = false;    ///< no message for it comes before the next commit
    bool is_logged = false;  ///< the message has been sent, and will arrive
  };
  /// The message that the last probe from any source has found, if no receive may have taken it since.
  struct Probed {
    std::uint32_t context;
    int asked_tag;  ///< may be MPI_ANY_TAG
    int source;
    int tag;
  };
  struct Receive {
    const VirtualComm* virtual_comm;
    void* data;
    int count;
    std::shared_ptr<const KeptType> type;
    int from;
    int tag;
    Traffic traffic = Traffic::messages;
    MPI_Request beneath = MPI_REQUEST_NULL;
    MPI_Request handle = MPI_REQUEST_NULL;  // none if it is a part of an operation
    bool is_complete = false;
    bool is_dropped = false;
    MPI_Status status{};
    std::uint64_t number = 0;       // for WildcardOrder
    bool waits_for_choice = false;  // its source is to be chosen; nothing is beneath
    Choice chosen{};
  };
  using Receives = std::list<Receive>;  // in the order in which they were posted

  /// A synchronous send, or a non-blocking collective call.
  struct Operation {
    const VirtualComm* virtual_comm;
    std::vector<Receives::iterator> parts{};
    std::function<int()> at_end{};
    std::span<const std::byte> copy{};  // of a send that has not ended
    MPI_Request send = MPI_REQUEST_NULL;
    MPI_Request handle = MPI_REQUEST_NULL;
    bool is_complete = false;
    bool is_dropped = false;
  };
  using Operations = std::list<Operation>;

  struct Matched {
    const VirtualComm* virtual_comm;
    std::vector<std::byte> bytes;
    MPI_Request send;  // of the bytes to this process itself; the application's handle receives them
    MPI_Status status;
  };

  struct Persistent {
    const VirtualComm* virtual_comm;
    void* data;
    int count;
    MPI_Datatype type;
    bool owns_type;
    int peer;
    int tag;
    std::optional<SendEnds> ends;
    MPI_Request begun = MPI_REQUEST_NULL;         // of a receive, of a synchronous send, or by `begin`
    std::function<int(MPI_Request*)> begin = {};  // of a collective call
  };

  /// The state of a rank that rolls back.
  struct Replay {
    std::optional<replay::WildcardOrder> order;
    bool alone;
    int vain_polls = 0;    // since the rank has sent something
    bool is_over = false;  // it has sent all messages that the others have
  };
  /// The message that a receive takes in a rank that rolls back.

  static int fill_status(void* receive, MPI_Status* status);
  static int let_go(void* receive);
  static int ignore_cancel(void* receive, int complete);
  static int fill_empty_status(void* operation, MPI_Status* status);
  enum class Try : std::uint8_t { complete, waits, interrupted, failed };
  Try finish(Receive& receive, bool waits, int* code);
  Try finish(Operation& operation, bool waits, int* code);
  Try finish(MPI_Request request, bool waits, int* code);
  Try finish_earlier(const VirtualComm& virtual_comm, Traffic traffic, int from, int tag, const Receive* before,
                     int* code);
  Receive* find(MPI_Request request) const;
  bool is_own(MPI_Request request) const { return by_handle_.contains(request) || by_operation_.contains(request); }
  int add_operation(const VirtualComm& virtual_comm, Operation** made);
  void remove(Operations::iterator operation);
  void take_back(MPI_Request* request);
  void take_back(const Receive& begun);
  static void complete(Operation& operation);
  int send(const VirtualComm& virtual_comm, Traffic traffic, const void* data, int count, MPI_Datatype type, int to,
           int tag, SendEnds ends, Operation* operation);
  int begin_send(std::span<const std::byte> bytes, int to, int tag, MPI_Comm comm, Operation& operation);
  int start(MPI_Request request, Persistent& one);
  int post(Receive& receive);
  int post_chosen(Receive& receive);
  static Choice choice_by(const replay::WildcardOrder::Answer& answer, const VirtualComm& virtual_comm, int from,
                          int tag);
  template <class Ask>
  Choice choice_of(const VirtualComm& virtual_comm, int from, int tag, Ask ask);
  Choice choose(const VirtualComm& virtual_comm, int from, int tag, std::uint64_t number);
  Choice choose_now(const VirtualComm& virtual_comm, int from, int tag);
  Choice look(const VirtualComm& virtual_comm, int from, int tag);
  Choice poll(const VirtualComm& virtual_comm, int from, int tag);
  int find_message(const VirtualComm& virtual_comm, int from, int tag, int* flag, MPI_Status* status);
  void note_found(const VirtualComm& virtual_comm, int from, int tag, const MPI_Status& found);
  void name_probed(const VirtualComm& virtual_comm, int* from, int* tag);
  bool is_early(const Receive& receive) const;
  void after_sending(const replay::Channel& channel);
  void post_answered();
  [[noreturn]] void give_up(const Choice& choice);
  void poll_in_vain(const Choice& choice);
  bool waits_for_logged() const;
  void note(const VirtualComm& virtual_comm, Traffic traffic, int from, const MPI_Status& status, const void* data,
            int count, MPI_Datatype type, bool by_request);
  void note_if_cut(int code);
  int noted_if_failed(int code, const VirtualComm& on);
  void note_source(int from, const char* call);
  [[noreturn]] void refuse_to_free() const;
  [[noreturn]] void refuse_large_message() const;
  int packed_size(int count, MPI_Datatype type, MPI_Comm comm, int* size) const;
  void forget_ended_sends();
  void keep_send(MPI_Request send, std::span<const std::byte> bytes);
  void forget_sends();
  int begin_send(std::span<const std::byte> bytes, int to, int tag, MPI_Comm comm);

  replay::MessageLog& log_;
  std::function<void()> recover_;
  UnsupportedText unsupported_;
  std::optional<AnySource> any_source_;
  bool completed_dropped_ = false;
  bool was_too_short_ = false;
  bool was_cut_ = false;
  const VirtualComm* failed_on_ = nullptr;
  Receives receives_;
  std::unordered_map<MPI_Request, Receives::iterator> by_handle_;
  Operations operations_;
  std::unordered_map<MPI_Request, Operations::iterator> by_operation_;
  std::unordered_map<MPI_Message, Matched> matched_;
  Communicator own_;  // of this process alone, for the handles of matched messages
  std::unordered_map<MPI_Request, Persistent> persistent_;
  std::vector<MPI_Request> sends_;           // of copies
  std::vector<const std::byte*> sent_from_;  // where each of them begins
  std::vector<std::byte> packed_;
  std::optional<Replay> replay_;
  std::optional<Probed> probed_;
  std::uint64_t receives_so_far_ = 0;
  bool receives_from_any_ = false;
  bool caught_up_ = false;
};

}  // namespace mend
