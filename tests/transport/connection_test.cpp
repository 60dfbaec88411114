#include "transport/control/connection.hpp"

#include "base/error.hpp"
#include "tests/support/fuzz.hpp"

#include <asio.hpp>
#include <gmock/gmock.h>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <future>
#include <string>
#include <thread>

namespace {

using asio::ip::tcp;
using mend::transport::Connection;
using mend::transport::ControlAddress;
using mend::transport::Ipv4;
using mend::transport::Listener;
using testing::HasSubstr;

std::span<const std::byte> as_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }
std::string text_of(const std::optional<std::vector<std::byte>>& message) {
  return message ? std::string(reinterpret_cast<const char*>(message->data()), message->size()) : "(nothing)";
}

class ListenerAndConnection : public testing::Test {
 protected:
  std::unique_ptr<Connection> open() {
    for (;;) {
      if (auto connection = listener_.poll()) return connection;
    }
  }
  Listener listener_{Ipv4::loopback()};
};

TEST_F(ListenerAndConnection, opens_to_who_shows_the_key) {
  const auto caller = Connection::dial(listener_.address());
  const auto host = open();
  caller->send(as_bytes("it is me"));
  caller->send({});
  caller->send(as_bytes("again"));
  EXPECT_EQ(text_of(host->wait()), "it is me");
  EXPECT_EQ(text_of(host->wait()), "");
  EXPECT_EQ(text_of(host->wait()), "again");
  const std::string long_one(3'000'000, 'x');
  host->send(as_bytes(long_one));
  EXPECT_EQ(text_of(caller->wait()), long_one);
  EXPECT_FALSE(caller->ended());
}

TEST_F(ListenerAndConnection, connection_answers_for_a_process_that_does_nothing) {
  const auto caller = Connection::dial(listener_.address());
  const auto host = open();
  const auto asked = mend::Clock::now();
  host->ask();
  while (host->heard() < asked) std::this_thread::yield();
  EXPECT_EQ(host->poll(), std::nullopt);
  EXPECT_EQ(caller->poll(), std::nullopt) << "that is between the lines";
  caller->send(as_bytes("it is me"));
  EXPECT_EQ(text_of(host->wait()), "it is me");
}

TEST_F(ListenerAndConnection, stays_shut_to_strangers) {
  asio::io_context io;
  const auto knock = [&](const std::string& text) {
    tcp::socket socket(io);
    socket.connect({asio::ip::address_v4(listener_.address().host.value), listener_.address().port});
    asio::write(socket, asio::buffer(text));
    return socket;
  };
  auto garbage = knock("0123456789abcdef");
  const auto mute = knock("");
  const auto caller = Connection::dial(listener_.address());
  const auto host = open();
  caller->send(as_bytes("it is me"));
  EXPECT_EQ(text_of(host->wait()), "it is me");
  listener_.poll();
  asio::error_code error;
  char nothing = 0;
  asio::read(garbage, asio::buffer(&nothing, 1), error);
  EXPECT_TRUE(error) << "cut off";
}

TEST_F(ListenerAndConnection, is_nowhere_when_it_is_gone) {
  ControlAddress gone;
  {
    const Listener listener(Ipv4::loopback());
    gone = listener.address();
  }
  try {
    Connection::dial(gone);
    FAIL() << "somebody was there";
  } catch (const mend::EnvironmentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("nobody answers at 127.0.0.1:"));
  }
}

/// Returns the peak memory of this process, in bytes.
std::size_t most_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (std::size_t kib = 0; word == "VmHWM:" && status >> kib) return kib * 1024;
  }
  return 0;
}

/// A process that has the key, and announces a message of `size` bytes.
class Boaster {
 public:
  Boaster(const ControlAddress& address, std::uint64_t size) : socket_(io_) {
    socket_.connect({asio::ip::address_v4(address.host.value), address.port});
    asio::write(socket_, asio::buffer(address.key));
    asio::write(socket_, asio::buffer(&size, sizeof size));
  }
  void send(const std::string& bytes, asio::error_code& error) { asio::write(socket_, asio::buffer(bytes), error); }
  /// Sends as much of `bytes` as there is room for. It does not listen for the end of the connection, so it must not
  /// wait.
  void send_some(const std::string& bytes, asio::error_code& error) {
    socket_.non_blocking(true);
    socket_.write_some(asio::buffer(bytes), error);
    if (error == asio::error::would_block) error.clear();
  }
  void hang_up() { socket_.close(); }

 private:
  asio::io_context io_;
  tcp::socket socket_;
};

TEST_F(ListenerAndConnection, connection_takes_no_memory_on_the_word_of_the_other_side) {
  asio::error_code error;
  Boaster boaster(listener_.address(), std::uint64_t{1} << 30);
  const auto host = open();
  const std::size_t before = most_memory();
  boaster.send("less than that", error);
  boaster.hang_up();
  EXPECT_EQ(text_of(host->wait()), "(nothing)");
  ASSERT_GT(before, 0U);
  EXPECT_LT(most_memory(), before + (std::size_t{100} << 20));  // the kernel counts roughly, so it may also be less
}

TEST_F(ListenerAndConnection, connection_ends_when_a_message_is_too_long_to_be_true) {
  const Boaster boaster(listener_.address(), std::uint64_t{1} << 40);
  EXPECT_EQ(text_of(open()->wait()), "(nothing)");
}

/// Returns what a process that has the key may send, as it goes over the wire: two messages, with a question and an
/// answer between them.
std::string bytes_for_a_connection() {
  std::string bytes;
  const auto number = [&](std::uint64_t value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  number(5);
  bytes += "first";
  number(~std::uint64_t{0});
  number(~std::uint64_t{0} - 1);
  number(300);
  bytes += std::string(300, 'x');
  return bytes;
}

/// Returns true if the other side has closed the connection. Bytes that it has sent before are discarded.
bool is_shut(tcp::socket& socket) {
  socket.non_blocking(true);
  std::array<char, 64> passed{};
  asio::error_code error;
  while (!error) socket.read_some(asio::buffer(passed), error);
  return error != asio::error::would_block;
}

TEST_F(ListenerAndConnection, connection_takes_whatever_comes_or_ends) {
  support::Fuzzer fuzzer;
  asio::io_context io;
  int let_in = 0;
  const int inputs = support::fuzz_inputs(support::few_inputs);
  for (int i = 0; i < inputs; ++i) {
    std::string said(reinterpret_cast<const char*>(listener_.address().key.data()), listener_.address().key.size());
    said = fuzzer.below(4) == 0 ? fuzzer.change(said + bytes_for_a_connection())
                                : said + fuzzer.change(bytes_for_a_connection());
    tcp::socket caller(io);
    caller.connect({asio::ip::address_v4(listener_.address().host.value), listener_.address().port});
    asio::error_code ignored;
    asio::write(caller, asio::buffer(said), ignored);
    caller.shutdown(tcp::socket::shutdown_send, ignored);
    std::unique_ptr<Connection> connection;
    while (!connection && !is_shut(caller)) connection = listener_.poll();
    if (!connection) continue;
    ++let_in;
    while (connection->wait()) {
    }
    ASSERT_TRUE(connection->ended());
  }
  EXPECT_GT(let_in, inputs / 2);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(ListenerAndConnection, connection_ends_when_there_is_no_memory_for_a_message) {
  const auto end_of_line = [&] {
    Boaster boaster(listener_.address(), std::uint64_t{1} << 29);
    const auto host = open();
    const std::string piece(1 << 20, 'x');
    const rlimit limit{std::size_t{256} << 20, std::size_t{256} << 20};
    ::setrlimit(RLIMIT_AS, &limit);
    asio::error_code error;
    while (!error && !host->ended()) boaster.send_some(piece, error);
    std::_Exit(host->wait() ? 1 : 0);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(end_of_line(), testing::ExitedWithCode(0), "");
}
#endif

TEST_F(ListenerAndConnection, has_an_address_in_words) {
  const ControlAddress read = mend::transport::parse_address(mend::transport::to_string(listener_.address()));
  EXPECT_EQ(read.host, listener_.address().host);
  EXPECT_EQ(read.port, listener_.address().port);
  EXPECT_EQ(read.key, listener_.address().key);
  for (const char* wrong :
       {"", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:1:00", "here:1:000102030405060708090a0b0c0d0e0f",
        "127.0.0.1:99999:000102030405060708090a0b0c0d0e0f", "127.0.0.1:1:000102030405060708090a0b0c0d0e0g"}) {
    EXPECT_THROW(mend::transport::parse_address(wrong), mend::UsageError) << wrong;
  }
}

TEST_F(ListenerAndConnection, address_is_read_whatever_stands_there_or_refused) {
  support::expect_read_or_refused<mend::UsageError>(
      [valid = mend::transport::to_string(listener_.address())](support::Fuzzer& fuzzer) {
        return fuzzer.change(valid);
      },
      [](const std::string& text) {
        const ControlAddress read = mend::transport::parse_address(text);
        const ControlAddress again = mend::transport::parse_address(mend::transport::to_string(read));
        ASSERT_EQ(again.host, read.host);
        ASSERT_EQ(again.port, read.port);
        ASSERT_EQ(again.key, read.key);
      });
}

TEST_F(ListenerAndConnection, connection_ends_with_the_other_side_and_says_so) {
  auto caller = Connection::dial(listener_.address());
  const auto host = open();
  caller->send(as_bytes("the last message"));
  std::promise<void> told;
  host->on_end([&] { told.set_value(); });
  caller.reset();
  told.get_future().wait();
  EXPECT_TRUE(host->ended());
  EXPECT_EQ(text_of(host->wait()), "the last message") << "what has come can still be had";
  EXPECT_EQ(text_of(host->wait()), "(nothing)");
  EXPECT_EQ(host->poll(), std::nullopt);
  int calls = 0;
  host->on_end([&] { ++calls; });
  EXPECT_EQ(calls, 1) << "told at once";
  host->send(as_bytes("to nobody"));
}

/// A message in memory that cannot be read, so that the system refuses to send it.
class Unreadable {
 public:
  Unreadable() : bytes_(::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Unreadable() { ::munmap(bytes_, size); }
  Unreadable(const Unreadable&) = delete;
  Unreadable& operator=(const Unreadable&) = delete;

  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(bytes_), size}; }

 private:
  static constexpr std::size_t size = 1 << 16;
  void* bytes_;
};

TEST_F(ListenerAndConnection, connection_is_hung_up_when_a_message_cannot_be_sent) {
  std::promise<void> told;
  const auto caller = Connection::dial(listener_.address());
  const auto host = open();
  host->on_end([&] { told.set_value(); });
  caller->send(as_bytes("before"));
  caller->send(Unreadable().bytes());
  ASSERT_EQ(told.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready)
      << "the other side waits for what will not come";
  EXPECT_EQ(text_of(host->wait()), "before");
  EXPECT_EQ(text_of(host->wait()), "(nothing)");
  EXPECT_EQ(text_of(caller->wait()), "(nothing)");
}

/// Counts signals SIGALRM while it lives. System calls that they interrupt are not started again.
class CountedAlarms {
 public:
  CountedAlarms() {
    struct sigaction action {};
    action.sa_handler = [](int) { ++count_; };
    ::sigaction(SIGALRM, &action, &before_);
  }
  ~CountedAlarms() { ::sigaction(SIGALRM, &before_, nullptr); }
  CountedAlarms(const CountedAlarms&) = delete;
  CountedAlarms& operator=(const CountedAlarms&) = delete;

  int count() const { return count_; }

 private:
  static inline std::atomic<int> count_{0};
  struct sigaction before_ {};
};

TEST_F(ListenerAndConnection, connection_sends_a_message_whole_while_signals_come) {
  const CountedAlarms alarms;
  const std::string message(64'000'000, 'x');
  const auto caller = Connection::dial(listener_.address());
  const pthread_t sender = ::pthread_self();
  auto received = std::async(std::launch::async, [&] {
    for (int i = 0; i < 200; ++i) {  // meanwhile, the sender waits, because nobody reads
      ::pthread_kill(sender, SIGALRM);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return text_of(open()->wait());
  });
  caller->send(as_bytes(message));
  EXPECT_TRUE(received.get() == message);
  EXPECT_GT(alarms.count(), 0);
}

TEST_F(ListenerAndConnection, connection_that_is_hung_up_here_tells_nobody_here) {
  const auto caller = Connection::dial(listener_.address());
  int calls = 0;
  {
    const auto host = open();
    host->on_end([&] { ++calls; });
  }
  EXPECT_EQ(text_of(caller->wait()), "(nothing)");
  EXPECT_EQ(calls, 0);
}

}  // namespace
