#include "transport/control/control_network.hpp"

#include "base/error.hpp"
#include "transport/control/sockets.hpp"

#include <asio.hpp>
#include <fmt/format.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

namespace mend::transport {
namespace {

using asio::ip::tcp;
using Error = asio::error_code;
using Key = std::array<std::byte, 16>;

// ---- The data on the wire, between machines of the same byte order

constexpr std::uint64_t magic = 0x6d656e6463747231;  // "mendctr1"

struct Hello {
  std::uint64_t magic = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  Key key{};
};
struct HelloReply {
  std::uint64_t magic = 0;
  std::uint64_t received = 0;
  Key key{};
};
struct Header {
  std::uint64_t sequence = 0;  // 0: a pulse
  std::uint64_t size = 0;
};
struct Receipt {
  std::uint64_t received = 0;
};

/// Connections without a valid HELLO may be slow. This many are tolerated at once in addition to those of the members,
/// which also begin without one. The oldest is closed first.
constexpr std::size_t most_strangers = 16;

/// More messages than a process can send to another in its lifetime.
constexpr std::uint64_t most_messages = std::uint64_t{1} << 62;

template <class T>
void append(const T& value, std::vector<std::byte>& bytes) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

/// Returns true if the kernel has had to send data again, and has received no acknowledgement since.
bool brings_nothing(tcp::socket& socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(socket.native_handle(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_retransmits > 0;
}

void close(tcp::socket& socket) {
  Error ignored;
  socket.close(ignored);
}

}  // namespace

class ControlNetwork::Impl {
 public:
  Impl(ProcessId self, Ipv4 host, Clock::duration patience, Listener listener)
      : self_(self), patience_(patience), listener_(std::move(listener)), acceptor_(io_) {
    address_ = listen_at(host, acceptor_, "the control network");
  }

  const ControlAddress& address() const { return address_; }
  const Counters& counters() const { return counters_; }
  void meet(std::map<ProcessId, ControlAddress> peers) {
    peers_ = std::move(peers);
    accept();  // connections that came too early are waiting
  }

  void send(ProcessId to, std::span<const std::byte> bytes) {
    Link& link = link_to(to, bytes.size());
    link.waiting.push_back({++link.last_sequence, {bytes.begin(), bytes.end()}});
    pump(to, link);
  }

  void pulse(ProcessId to, std::span<const std::byte> bytes) {
    Link& link = link_to(to, bytes.size());
    link.pulse.emplace(bytes.begin(), bytes.end());
    pump(to, link);
  }

  void retry() {
    accept();
    const auto now = Clock::now();
    std::vector<ProcessId> stuck;
    for (auto& [peer, link] : links_) {
      if (!link.call) continue;
      const bool is_stuck = link.call->open ? brings_nothing(link.call->socket) : now > link.call->begun + patience_;
      if (is_stuck) stuck.push_back(peer);
    }
    for (const ProcessId peer : stuck) {
      const auto link = links_.find(peer);  // the listener may have dropped it
      if (link != links_.end() && link->second.call) end_call(peer, link->second);
    }
    for (auto& [peer, link] : links_) {
      if (!link.waiting.empty()) pump(peer, link);
    }
  }

  void drop(ProcessId peer) {
    if (const auto link = links_.find(peer); link != links_.end()) {
      if (link->second.call) close(link->second.call->socket);
      links_.erase(link);
    }
    if (const auto guest = guests_.find(peer); guest != guests_.end()) {
      close(guest->second->socket);
      guests_.erase(guest);
    }
  }

  void run_one_until(Clock::time_point deadline) {
    io_.restart();
    io_.run_one_until(deadline);
  }
  void drain() {
    io_.restart();
    io_.poll();
  }
  void post(std::function<void()> work) { asio::post(io_, std::move(work)); }
  bool has_its_descriptors() {
    int listens = 0;
    socklen_t size = sizeof listens;
    const bool is_socket = ::getsockopt(acceptor_.native_handle(), SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0;
    return is_socket && listens != 0;
  }

 private:
  // ---- Connections to other processes

  /// A connection made by this process. It outlives its link while an operation on it is pending.
  struct Call {
    explicit Call(asio::io_context& io) : socket(io), begun(Clock::now()) {}
    tcp::socket socket;
    Clock::time_point begun;
    bool open = false;
    bool writing = false;
    Hello hello;
    HelloReply reply;
    Receipt receipt;
    std::vector<std::byte> outgoing;
  };
  struct Waiting {
    std::uint64_t sequence;
    std::vector<std::byte> bytes;
  };
  /// The messages of this process to another.
  struct Link {
    std::shared_ptr<Call> call;
    std::deque<Waiting> waiting;  // for a receipt
    std::size_t written = 0;      // how many of them have been sent over this call
    std::uint64_t last_sequence = 0;
    bool numbered = false;  // true, since the first call, if the peer counts as this link does
    std::optional<std::vector<std::byte>> pulse;
  };
  using CallPtr = std::shared_ptr<Call>;

  Link& link_to(ProcessId to, std::size_t size) {
    if (size > longest_message) throw UsageError(fmt::format("a control message of {} bytes is too long", size));
    if (!peers_.contains(to)) throw UsageError(fmt::format("process {} is not on the control network", to.value));
    return links_[to];
  }

  /// Returns the link that `call` belongs to; null if the link has another call by now, or is gone.
  Link* link_of(ProcessId to, const CallPtr& call) {
    const auto at = links_.find(to);
    return at != links_.end() && at->second.call == call ? &at->second : nullptr;
  }

  /// Sends the waiting messages, if that is possible now. Connects if there is no connection.
  void pump(ProcessId to, Link& link) {
    if (!link.call) return connect(to, link);
    Call& call = *link.call;
    if (!call.open || call.writing) return;
    call.outgoing.clear();
    for (; link.written < link.waiting.size(); ++link.written) {
      const Waiting& message = link.waiting[link.written];
      put(message.sequence, message.bytes, call.outgoing);
    }
    if (link.pulse) put(0, *link.pulse, call.outgoing);
    link.pulse.reset();
    if (call.outgoing.empty()) return;
    call.writing = true;
    asio::async_write(call.socket, asio::buffer(call.outgoing), [this, to, call = link.call](Error error, std::size_t) {
      Link* const mine = link_of(to, call);
      if (!mine) return;
      call->writing = false;
      error ? end_call(to, *mine) : pump(to, *mine);
    });
  }

  void put(std::uint64_t sequence, const std::vector<std::byte>& bytes, std::vector<std::byte>& out) {
    append(Header{sequence, bytes.size()}, out);
    out.insert(out.end(), bytes.begin(), bytes.end());
    ++counters_.sent;
  }

  void connect(ProcessId to, Link& link) {
    link.call = std::make_shared<Call>(io_);
    Call& call = *link.call;
    Error error;
    call.socket.open(tcp::v4(), error);
    if (error) return end_call(to, link);
    prepare(call.socket);
    const ControlAddress& theirs = peers_.at(to);
    call.hello = {magic, self_.value, to.value, theirs.key};
    call.socket.async_connect(endpoint_of(theirs), [this, to, call = link.call](Error failed) {
      if (!link_of(to, call)) return;
      if (failed) {
        end_call(to, *link_of(to, call));
        return listener_.broken(to);
      }
      asio::async_write(call->socket, bytes_of(call->hello), [call](Error, std::size_t) {});  // reading reports errors
      asio::async_read(call->socket, bytes_of(call->reply), [this, to, call](Error unread, std::size_t) {
        Link* const mine = link_of(to, call);
        if (!mine) return;
        const bool is_valid = !unread && call->reply.magic == magic && call->reply.key == address_.key;
        is_valid ? begin_call(to, *mine) : end_call(to, *mine);
      });
    });
  }

  void begin_call(ProcessId to, Link& link) {
    const std::uint64_t received = link.call->reply.received;
    if (received > (link.numbered ? link.last_sequence : most_messages)) return give_up(to, link);
    link.call->open = true;
    if (link.numbered) take_receipt(link, received);
    // For a peer that was dropped and met again, the count continues from the peer's count.
    link.numbered = true;
    link.last_sequence = received;
    for (Waiting& message : link.waiting) message.sequence = ++link.last_sequence;
    link.written = 0;
    pump(to, link);
    read_receipts(to, link.call);
  }

  void read_receipts(ProcessId to, const CallPtr& call) {
    asio::async_read(call->socket, bytes_of(call->receipt), [this, to, call](Error error, std::size_t) {
      Link* const link = link_of(to, call);
      if (!link) return;
      if (error) return end_call(to, *link);
      if (call->receipt.received >= first_unsent(*link)) return give_up(to, *link);
      take_receipt(*link, call->receipt.received);
      read_receipts(to, call);
    });
  }

  static std::uint64_t first_unsent(const Link& link) {
    return link.written < link.waiting.size() ? link.waiting[link.written].sequence : link.last_sequence + 1;
  }

  static void take_receipt(Link& link, std::uint64_t received) {
    while (!link.waiting.empty() && link.waiting.front().sequence <= received) {
      link.waiting.pop_front();
      if (link.written > 0) --link.written;
    }
  }

  /// A connection that was open is replaced at once if messages wait for it. If it was never established, retry() tries
  /// again.
  void end_call(ProcessId to, Link& link) {
    const bool was_open = link.call->open;
    close(link.call->socket);
    link.call.reset();
    link.written = 0;
    if (!was_open) return;
    ++counters_.broken;
    if (!link.waiting.empty()) connect(to, link);
    listener_.broken(to);
  }

  /// The peer acknowledges messages that were never sent. Waits for retry(), because the peer may repeat that.
  void give_up(ProcessId to, Link& link) {
    ++counters_.garbage;
    close(link.call->socket);
    link.call.reset();
    link.written = 0;
    listener_.broken(to);
  }

  // ---- Connections from other processes

  /// A connection made to this process.
  struct Guest {
    explicit Guest(tcp::socket&& accepted) : socket(std::move(accepted)) {}
    tcp::socket socket;
    std::optional<ProcessId> from;  // none: no valid HELLO so far
    Hello hello;
    HelloReply reply;
    Header header;
    std::vector<std::byte> body;
    bool writing = false;
    Receipt receipt;
  };
  using GuestPtr = std::shared_ptr<Guest>;

  /// If the system has no resources for a connection, the next retry() tries again.
  void accept() {
    if (std::exchange(accepting_, true)) return;
    acceptor_.async_accept([this](Error error, tcp::socket socket) {
      accepting_ = false;
      if (error) return;
      prepare(socket);
      receive_hello(std::make_shared<Guest>(std::move(socket)));
      accept();
    });
  }

  void receive_hello(const GuestPtr& guest) {
    strangers_.push_back(guest);
    if (strangers_.size() > most_strangers + peers_.size()) turn_away(GuestPtr(strangers_.front()));
    asio::async_read(guest->socket, bytes_of(guest->hello), [this, guest](Error error, std::size_t) {
      const Hello& hello = guest->hello;
      const ProcessId from{hello.from};
      const bool valid = !error && hello.magic == magic && hello.key == address_.key && hello.to == self_.value &&
                         peers_.contains(from);
      if (!valid) return turn_away(guest);
      std::erase(strangers_, guest);
      let_in(from, guest);
    });
  }

  void turn_away(const GuestPtr& guest) {
    if (std::erase(strangers_, guest) == 0) return;
    ++counters_.strangers;
    close(guest->socket);
  }

  void let_in(ProcessId from, const GuestPtr& guest) {
    guest->from = from;
    GuestPtr& place = guests_[from];
    if (place) close(place->socket);  // the peer has given up the earlier connection
    place = guest;
    guest->reply = {magic, received_[from], peers_.at(from).key};
    guest->writing = true;
    asio::async_write(guest->socket, bytes_of(guest->reply), [this, guest](Error, std::size_t) {
      guest->writing = false;
      give_receipt(guest);
    });
    read_header(guest);
  }

  bool is_here(const GuestPtr& guest) const {
    const auto at = guests_.find(*guest->from);
    return at != guests_.end() && at->second == guest;
  }

  void read_header(const GuestPtr& guest) {
    asio::async_read(guest->socket, bytes_of(guest->header), [this, guest](Error error, std::size_t) {
      if (!is_here(guest)) return;
      if (error) return lose(guest);
      const std::uint64_t expected = received_[*guest->from] + 1;
      if (guest->header.size > longest_message || guest->header.sequence > expected) return throw_out(guest);
      guest->body.resize(guest->header.size);
      read_body(guest);
    });
  }

  void read_body(const GuestPtr& guest) {
    asio::async_read(guest->socket, asio::buffer(guest->body), [this, guest](Error error, std::size_t) {
      if (!is_here(guest)) return;
      if (error) return lose(guest);
      const std::uint64_t sequence = guest->header.sequence;
      std::uint64_t& received = received_[*guest->from];
      const bool fresh = sequence == 0 || sequence == received + 1;
      if (sequence == received + 1) received = sequence;
      if (sequence != 0) give_receipt(guest);
      if (fresh) {
        ++counters_.received;
        listener_.arrived(*guest->from, guest->body);
      }
      read_header(guest);
    });
  }

  void give_receipt(const GuestPtr& guest) {
    const std::uint64_t received = received_[*guest->from];
    const std::uint64_t told = std::max(guest->receipt.received, guest->reply.received);
    if (guest->writing || received == told) return;
    guest->writing = true;
    guest->receipt.received = received;
    asio::async_write(guest->socket, bytes_of(guest->receipt), [this, guest](Error error, std::size_t) {
      guest->writing = false;
      if (!error) give_receipt(guest);  // otherwise reading meets the error too
    });
  }

  void throw_out(const GuestPtr& guest) {
    ++counters_.garbage;
    close(guest->socket);
    guests_.erase(*guest->from);
  }

  void lose(const GuestPtr& guest) {
    ++counters_.broken;
    const ProcessId peer = *guest->from;
    close(guest->socket);
    guests_.erase(peer);
    listener_.broken(peer);
  }

  ProcessId self_;
  Clock::duration patience_;
  Listener listener_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  ControlAddress address_;
  Counters counters_;
  std::map<ProcessId, ControlAddress> peers_;
  std::map<ProcessId, Link> links_;
  std::map<ProcessId, GuestPtr> guests_;
  std::map<ProcessId, std::uint64_t> received_;  // number of the last message of each peer, over all its connections
  std::deque<GuestPtr> strangers_;
  bool accepting_ = false;
};

ControlNetwork::ControlNetwork(ProcessId self, Ipv4 host, Clock::duration patience, Listener listener)
    : impl_(std::make_unique<Impl>(self, host, patience, std::move(listener))) {}
ControlNetwork::~ControlNetwork() = default;

const ControlAddress& ControlNetwork::address() const { return impl_->address(); }
const ControlNetwork::Counters& ControlNetwork::counters() const { return impl_->counters(); }
void ControlNetwork::meet(std::map<ProcessId, ControlAddress> peers) { impl_->meet(std::move(peers)); }
void ControlNetwork::send(ProcessId to, std::span<const std::byte> bytes) { impl_->send(to, bytes); }
void ControlNetwork::pulse(ProcessId to, std::span<const std::byte> bytes) { impl_->pulse(to, bytes); }
void ControlNetwork::retry() { impl_->retry(); }
void ControlNetwork::drop(ProcessId peer) { impl_->drop(peer); }
void ControlNetwork::run_one_until(Clock::time_point deadline) { impl_->run_one_until(deadline); }
void ControlNetwork::drain() { impl_->drain(); }
bool ControlNetwork::has_its_descriptors() const { return impl_->has_its_descriptors(); }
void ControlNetwork::post(std::function<void()> work) { impl_->post(std::move(work)); }

}  // namespace mend::transport
