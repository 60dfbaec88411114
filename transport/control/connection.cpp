#include "transport/control/connection.hpp"

#include "base/error.hpp"
#include "base/thread.hpp"
#include "transport/control/sockets.hpp"

#include <asio.hpp>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace mend::transport {
namespace {

using asio::ip::tcp;
using Error = asio::error_code;

constexpr std::uint64_t longest_message = std::uint64_t{1} << 30;
/// Sent in place of the size of a message.
constexpr std::uint64_t question = ~std::uint64_t{0};
constexpr std::uint64_t answer = question - 1;
/// Memory for an incoming message is allocated in pieces of this size.
constexpr std::size_t read_size = std::size_t{1} << 20;
/// The number of connections without a valid key that are tolerated at once. The oldest is closed first.
constexpr std::size_t most_without_key = 16;

/// Makes the kernel probe the other machine, so that the loss of that machine also ends the connection: after 5 seconds
/// of silence.
void ask_after_other_machine(tcp::socket& socket) {
  using Seconds = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPIDLE>;
  using Interval = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPINTVL>;
  using Count = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPCNT>;
  using Unacknowledged = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_USER_TIMEOUT>;
  Error ignored;
  socket.set_option(tcp::socket::keep_alive(true), ignored);
  socket.set_option(Seconds(1), ignored);
  socket.set_option(Interval(1), ignored);
  socket.set_option(Count(4), ignored);
  socket.set_option(Unacknowledged(5000), ignored);
}

/// Writes all of `rest`, also if signals interrupt it, which asio returns as an error.
template <std::size_t count>
void write_whole(tcp::socket& socket, std::array<asio::const_buffer, count> rest, Error& error) {
  do {
    std::size_t written = asio::write(socket, rest, error);
    for (asio::const_buffer& buffer : rest) {
      const std::size_t of_this = std::min(written, buffer.size());
      buffer += of_this;
      written -= of_this;
    }
  } while (error == asio::error::interrupted);
}

/// Waits until a connect() that a signal has interrupted is complete.
void finish_connecting(tcp::socket& socket, Error& error) {
  socket.wait(tcp::socket::wait_write, error);
  if (error) return;
  int result = 0;
  socklen_t size = sizeof result;
  ::getsockopt(socket.native_handle(), SOL_SOCKET, SO_ERROR, &result, &size);
  error = Error(result, asio::error::get_system_category());
}

}  // namespace

class Connection::Impl {
 public:
  Impl(std::unique_ptr<asio::io_context> io, tcp::socket socket) : io_(std::move(io)), socket_(std::move(socket)) {
    prepare(socket_);
    ask_after_other_machine(socket_);
    reader_ = start_thread(thread_name, [this] { read_all(); });
  }
  ~Impl() {
    on_end({});
    Error ignored;
    socket_.shutdown(tcp::socket::shutdown_both, ignored);
    reader_.join();
  }

  bool ended() const {
    const std::lock_guard lock(mutex_);
    return ended_;
  }

  void on_end(std::function<void()> listener) {
    const std::lock_guard call(calling_);
    listener_ = std::move(listener);
    if (listener_ && ended()) listener_();
  }

  void send(std::span<const std::byte> message) {
    const std::uint64_t size = message.size();
    const std::lock_guard one_at_a_time(writing_);
    Error error;
    write_whole(socket_,
                std::array<asio::const_buffer, 2>{bytes_of(size), asio::buffer(message.data(), message.size())}, error);
    if (error) hang_up();  // the other side would wait for the rest of the message
  }

  void ask() {
    const std::unique_lock unless_busy(writing_, std::try_to_lock);
    if (!unless_busy) return;
    const auto sent = ::send(socket_.native_handle(), &question, sizeof question, MSG_DONTWAIT | MSG_NOSIGNAL);
    const bool in_part = sent > 0 && sent < static_cast<ssize_t>(sizeof question);
    if (in_part) hang_up();  // anything sent later would be invalid
  }

  Clock::time_point heard() const {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

  std::optional<std::vector<std::byte>> poll() {
    const std::lock_guard lock(mutex_);
    return take();
  }

  std::optional<std::vector<std::byte>> wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ || !arrived_.empty(); });
    return take();
  }

 private:
  /// Ends the connection. The reader and the other side notice.
  void hang_up() {
    Error ignored;
    socket_.shutdown(tcp::socket::shutdown_both, ignored);
  }

  std::optional<std::vector<std::byte>> take() {
    if (arrived_.empty()) return std::nullopt;
    auto message = std::move(arrived_.front());
    arrived_.pop_front();
    return message;
  }

  void reply() {
    const std::lock_guard one_at_a_time(writing_);
    Error error;
    asio::write(socket_, bytes_of(answer), error);
    if (error) hang_up();
  }

  void note_sign_of_life() {
    const std::lock_guard lock(mutex_);
    heard_ = Clock::now();
  }

  /// Allocates memory as the message arrives, because its announced size may be wrong.
  std::optional<std::vector<std::byte>> read_message(std::uint64_t size) {
    std::vector<std::byte> message;
    Error error;
    while (message.size() < size && !error) {
      const std::size_t got = message.size();
      message.resize(std::min<std::size_t>(size, got + read_size));
      asio::read(socket_, asio::buffer(message.data() + got, message.size() - got), error);
    }
    return error ? std::nullopt : std::optional(std::move(message));
  }

  /// Reads the next item. Returns false when the connection has ended.
  bool read_one() {
    std::uint64_t size = 0;
    Error error;
    asio::read(socket_, bytes_of(size), error);
    if (error) return false;
    if (size == question || size == answer) {
      size == question ? reply() : note_sign_of_life();
      return true;
    }
    if (size > longest_message) return false;
    auto message = read_message(size);
    if (!message) return false;
    const std::lock_guard lock(mutex_);
    heard_ = Clock::now();
    arrived_.push_back(*std::move(message));
    changed_.notify_all();
    return true;
  }

  void read_all() {
    try {
      while (read_one()) {
      }
    } catch (const std::bad_alloc&) {  // no memory for the message: the connection ends
    }
    Error ignored;
    socket_.shutdown(tcp::socket::shutdown_both, ignored);
    const std::lock_guard call(calling_);
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      changed_.notify_all();
    }
    if (listener_) listener_();
  }

  std::unique_ptr<asio::io_context> io_;
  tcp::socket socket_;
  std::thread reader_;
  std::mutex writing_;
  mutable std::mutex mutex_;  // protects the members below
  std::condition_variable changed_;
  std::deque<std::vector<std::byte>> arrived_;
  Clock::time_point heard_ = Clock::now();
  bool ended_ = false;
  std::mutex calling_;  // held during calls of the listener; taken before mutex_
  std::function<void()> listener_;
};

Connection::Connection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Connection::~Connection() = default;

std::unique_ptr<Connection> Connection::dial(const ControlAddress& address) {
  auto io = std::make_unique<asio::io_context>(1);
  tcp::socket socket(*io);
  Error error;
  socket.connect(endpoint_of(address), error);
  while (error == asio::error::interrupted) finish_connecting(socket, error);
  if (!error) write_whole(socket, std::array<asio::const_buffer, 1>{asio::buffer(address.key)}, error);
  if (error) {
    throw EnvironmentError(
        fmt::format("nobody answers at {}:{}: {}", to_string(address.host), address.port, error.message()));
  }
  return std::unique_ptr<Connection>(new Connection(std::make_unique<Impl>(std::move(io), std::move(socket))));
}

bool Connection::ended() const { return impl_->ended(); }
void Connection::on_end(std::function<void()> listener) { impl_->on_end(std::move(listener)); }
void Connection::send(std::span<const std::byte> message) { impl_->send(message); }
void Connection::ask() { impl_->ask(); }
Clock::time_point Connection::heard() const { return impl_->heard(); }
std::optional<std::vector<std::byte>> Connection::poll() { return impl_->poll(); }
std::optional<std::vector<std::byte>> Connection::wait() { return impl_->wait(); }

class Listener::Impl {
 public:
  explicit Impl(Ipv4 host) : acceptor_(io_) {
    address_ = listen_at(host, acceptor_, "a listener for newcomers");
    acceptor_.non_blocking(true);
  }

  const ControlAddress& address() const { return address_; }

  std::unique_ptr<Connection> poll() {
    accept();
    for (auto stranger = strangers_.begin(); stranger != strangers_.end();) {
      Error error;
      const std::size_t got = stranger->socket.read_some(
          asio::buffer(stranger->key.data() + stranger->got, stranger->key.size() - stranger->got), error);
      stranger->got += got;
      if (stranger->got == stranger->key.size() && stranger->key == address_.key) {
        Stranger known = std::move(*stranger);
        strangers_.erase(stranger);  // even if no connection can be made: each call would take it again
        known.socket.non_blocking(false);
        return std::unique_ptr<Connection>(
            new Connection(std::make_unique<Connection::Impl>(std::move(known.io), std::move(known.socket))));
      }
      const bool may_still_show_it = !error || error == asio::error::would_block;
      const bool turned_away = !may_still_show_it || stranger->got == stranger->key.size();
      stranger = turned_away ? strangers_.erase(stranger) : std::next(stranger);
    }
    return nullptr;
  }

 private:
  struct Stranger {
    std::unique_ptr<asio::io_context> io;
    tcp::socket socket;
    std::array<std::byte, 16> key{};
    std::size_t got = 0;
  };

  bool has_callers() {
    pollfd listener{acceptor_.native_handle(), POLLIN, 0};
    return ::poll(&listener, 1, 0) == 1;
  }

  /// A caller that has disconnected is ignored. A caller that cannot be accepted stays in the queue.
  void accept() {
    namespace errc = asio::error;
    while (has_callers()) {
      auto io = std::make_unique<asio::io_context>(1);
      tcp::socket socket(*io);
      Error error;
      acceptor_.accept(socket, error);
      const bool lacks_something = error == errc::no_descriptors || error == std::errc::too_many_files_open_in_system ||
                                   error == errc::no_buffer_space || error == errc::no_memory;
      if (lacks_something) throw EnvironmentError(fmt::format("no connection can be accepted: {}", error.message()));
      if (error) return;
      socket.non_blocking(true);
      if (strangers_.size() == most_without_key) strangers_.erase(strangers_.begin());
      strangers_.push_back({std::move(io), std::move(socket)});
    }
  }

  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  ControlAddress address_;
  std::list<Stranger> strangers_;  // list nodes do not move: a socket can only be assigned within its own context
};

Listener::Listener(Ipv4 host) : impl_(std::make_unique<Impl>(host)) {}
Listener::~Listener() = default;
const ControlAddress& Listener::address() const { return impl_->address(); }
std::unique_ptr<Connection> Listener::poll() { return impl_->poll(); }

std::string to_string(const ControlAddress& address) {
  std::string text = fmt::format("{}:{}:", to_string(address.host), address.port);
  for (const std::byte byte : address.key) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

ControlAddress parse_address(std::string_view text) {
  const auto refuse = [&] {
    return UsageError(fmt::format("'{}' is not the address of a listener, which is HOST:PORT:KEY", text));
  };
  const auto number = [&](std::string_view digits, int base, unsigned long most) {
    unsigned long value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc{} || stop != digits.data() + digits.size() || value > most) throw refuse();
    return value;
  };
  const auto first = text.find(':');
  const auto second = text.find(':', first == std::string_view::npos ? first : first + 1);
  ControlAddress address;
  const std::string_view key = second == std::string_view::npos ? "" : text.substr(second + 1);
  if (key.size() != 2 * address.key.size()) throw refuse();
  Error error;
  address.host = {asio::ip::make_address_v4(std::string(text.substr(0, first)), error).to_uint()};
  if (error) throw refuse();
  address.port = static_cast<std::uint16_t>(number(text.substr(first + 1, second - first - 1), 10, 65535));
  for (std::size_t i = 0; i < address.key.size(); ++i) {
    address.key[i] = static_cast<std::byte>(number(key.substr(2 * i, 2), 16, 255));
  }
  return address;
}

}  // namespace mend::transport
