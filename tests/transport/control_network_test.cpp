// Several ends of the control network in one thread, and strangers at their listeners.

#include "transport/control/control_network.hpp"

#include "base/error.hpp"
#include "tests/support/fuzz.hpp"

#include <asio.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using asio::ip::tcp;
using mend::Clock;
using mend::ProcessId;
using mend::transport::ControlAddress;
using mend::transport::ControlNetwork;
using mend::transport::Ipv4;
using testing::ElementsAre;
using testing::IsEmpty;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }
std::string as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct End {
  explicit End(std::uint32_t number)
      : self{number},
        network(self, Ipv4::loopback(), std::chrono::milliseconds(200),
                {[this](ProcessId from, std::span<const std::byte> bytes) {
                   heard.push_back(fmt::format("{}: {}", from.value, as_text(bytes)));
                 },
                 [this](ProcessId peer) { broken.push_back(peer); }}) {}
  ProcessId self;
  std::vector<std::string> heard;
  std::vector<ProcessId> broken;
  ControlNetwork network;
};

class Network : public testing::Test {
 protected:
  Network() {
    std::map<ProcessId, ControlAddress> peers;
    for (auto& end : ends_) peers[end->self] = end->network.address();
    for (auto& end : ends_) end->network.meet(peers);
  }

  ControlNetwork& operator[](std::size_t i) { return ends_[i]->network; }
  std::vector<std::string>& heard(std::size_t i) { return ends_[i]->heard; }
  const ControlNetwork::Counters& counters(std::size_t i) { return ends_[i]->network.counters(); }

  void turn() {
    for (auto& end : ends_) {
      if (end) end->network.drain();
    }
  }
  /// Runs until `done`, or until it is clear that this will not happen.
  bool soon(const std::function<bool()>& done) {
    const auto deadline = Clock::now() + std::chrono::seconds(20);
    while (!done() && Clock::now() < deadline) turn();
    return done();
  }
  void say(std::size_t from, std::uint32_t to, const std::string& text) {
    (*this)[from].send(ProcessId{to}, bytes_of(text));
  }

  std::vector<std::unique_ptr<End>> make_ends() {
    std::vector<std::unique_ptr<End>> made;
    for (std::uint32_t i = 0; i < 4; ++i) made.push_back(std::make_unique<End>(i));
    return made;
  }
  std::vector<std::unique_ptr<End>> ends_ = make_ends();
};

/// A stranger that connects to a listener.
class Stranger {
 public:
  explicit Stranger(const ControlAddress& address) : socket_(io_) {
    socket_.connect({asio::ip::address_v4(address.host.value), address.port});
  }
  void say(std::span<const std::byte> bytes) {
    asio::error_code ignored;  // the connection may be closed by now
    asio::write(socket_, asio::buffer(bytes.data(), bytes.size()), ignored);
  }
  /// Returns true if the connection was closed. Never blocks.
  bool is_out() {
    socket_.non_blocking(true);
    std::array<char, 64> heard{};
    asio::error_code error;
    socket_.read_some(asio::buffer(heard), error);
    return error && error != asio::error::would_block;
  }
  void has_said_all() {
    asio::error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
  }
  void leave() { socket_.close(); }

 private:
  asio::io_context io_;
  tcp::socket socket_;
};

/// The HELLO as it goes over the wire.
struct Hello {
  std::uint64_t magic = 0x6d656e6463747231;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::array<std::byte, 16> key{};
};
template <class T>
std::span<const std::byte> raw(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

TEST_F(Network, carries_messages_in_order) {
  std::vector<std::string> said;
  for (int i = 0; i < 1000; ++i) {
    say(0, 1, fmt::format("message {}", i));
    said.push_back(fmt::format("0: message {}", i));
  }
  EXPECT_TRUE(soon([&] { return heard(1).size() >= said.size(); }));
  EXPECT_EQ(heard(1), said);
}

TEST_F(Network, carries_both_ways_among_all) {
  for (std::size_t from = 0; from < 4; ++from) {
    for (std::uint32_t to = 0; to < 4; ++to) {
      if (from != to) say(from, to, fmt::format("{}->{}", from, to));
    }
  }
  for (std::size_t to = 0; to < 4; ++to) EXPECT_TRUE(soon([&] { return heard(to).size() == 3; })) << to;
}

TEST_F(Network, carries_the_longest_and_the_empty_message) {
  const std::string longest(ControlNetwork::longest_message, 'x');
  say(0, 1, longest);
  say(0, 1, "");
  EXPECT_TRUE(soon([&] { return heard(1).size() == 2; }));
  EXPECT_EQ(heard(1), (std::vector<std::string>{"0: " + longest, "0: "}));
  EXPECT_THROW(say(0, 1, longest + "x"), mend::UsageError);
}

TEST_F(Network, reaches_nobody_it_has_not_met) {
  EXPECT_THROW((*this)[0].send(ProcessId{9}, bytes_of("hello")), mend::UsageError);
  EXPECT_THROW((*this)[0].pulse(ProcessId{9}, bytes_of("hello")), mend::UsageError);
}

TEST_F(Network, sends_only_the_last_of_the_pulses_that_had_to_wait) {
  for (int i = 0; i < 100; ++i) (*this)[0].pulse(ProcessId{1}, bytes_of(std::to_string(i)));
  EXPECT_TRUE(soon([&] { return !heard(1).empty(); }));
  EXPECT_THAT(heard(1), ElementsAre("0: 99"));
}

TEST_F(Network, does_work_that_another_thread_posts) {
  bool done = false;
  std::thread poster([&] { (*this)[0].post([&] { done = true; }); });
  const auto begin = Clock::now();
  while (!done) (*this)[0].run_one_until(begin + std::chrono::seconds(20));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10)) << "woken, and not by the deadline";
  poster.join();
}

TEST_F(Network, waits_no_longer_than_it_is_told) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(20);
  (*this)[0].run_one_until(deadline);
  EXPECT_GE(Clock::now(), deadline);
  EXPECT_LT(Clock::now(), deadline + std::chrono::seconds(10));
}

// ---- Broken connections

TEST_F(Network, tells_both_sides_of_a_connection_that_breaks) {
  say(0, 1, "one");
  say(2, 0, "two");
  ASSERT_TRUE(soon([&] { return heard(1).size() + heard(0).size() == 2; }));
  ends_[0].reset();
  EXPECT_TRUE(soon([&] { return !ends_[1]->broken.empty() && !ends_[2]->broken.empty(); }));
  EXPECT_THAT(ends_[1]->broken, ElementsAre(ProcessId{0}));
  EXPECT_THAT(ends_[2]->broken, ElementsAre(ProcessId{0}));
  EXPECT_THAT(ends_[3]->broken, IsEmpty());
}

TEST_F(Network, reaches_nobody_who_is_gone_and_goes_on) {
  ends_[3].reset();
  say(0, 3, "lost");
  say(0, 1, "one");
  EXPECT_TRUE(soon([&] { return heard(1).size() == 1 && !ends_[0]->broken.empty(); }));
  EXPECT_THAT(ends_[0]->broken, ElementsAre(ProcessId{3}));
  (*this)[0].retry();
  turn();
  (*this)[0].drop(ProcessId{3});
  (*this)[0].retry();
  say(0, 1, "two");
  EXPECT_TRUE(soon([&] { return heard(1).size() == 2; }));
}

/// A relay between two ends that can cut the connections through it.
class Cutter {
 public:
  explicit Cutter(const ControlAddress& address)
      : target_(address), acceptor_(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
    accept();
  }
  /// Returns the address to use instead of the listener's, to connect through this relay.
  ControlAddress address() const {
    ControlAddress mine = target_;
    mine.port = acceptor_.local_endpoint().port();
    return mine;
  }
  void drain() {
    io_.restart();
    io_.poll();
  }
  /// From now on each connection is cut after `bytes` bytes from the connector.
  void cut_after(std::size_t bytes) { bytes_ = bytes; }
  int connections() const { return connections_; }

 private:
  struct Pipe {
    explicit Pipe(asio::io_context& io) : client(io), server(io) {}
    tcp::socket client;
    tcp::socket server;
    std::size_t passed = 0;
    std::array<char, 64> there{};
    std::array<char, 64> back{};
  };

  void accept() {
    auto pipe = std::make_shared<Pipe>(io_);
    acceptor_.async_accept(pipe->client, [this, pipe](asio::error_code error) {
      if (error) return;
      ++connections_;
      pipe->server.connect({asio::ip::address_v4(target_.host.value), target_.port}, error);
      if (!error) {
        pass_there(pipe);
        pass_back(pipe);
      }
      accept();
    });
  }
  void pass_there(const std::shared_ptr<Pipe>& pipe) {
    pipe->client.async_read_some(asio::buffer(pipe->there), [this, pipe](asio::error_code error, std::size_t count) {
      const std::size_t allowed = std::min(count, bytes_ - std::min(bytes_, pipe->passed));
      if (!error) asio::write(pipe->server, asio::buffer(pipe->there, allowed), error);
      pipe->passed += count;
      if (error || pipe->passed > bytes_) return cut(*pipe);
      pass_there(pipe);
    });
  }
  void pass_back(const std::shared_ptr<Pipe>& pipe) {
    pipe->server.async_read_some(asio::buffer(pipe->back), [this, pipe](asio::error_code error, std::size_t count) {
      if (!error) asio::write(pipe->client, asio::buffer(pipe->back, count), error);
      if (error) return cut(*pipe);
      pass_back(pipe);
    });
  }
  static void cut(Pipe& pipe) {
    asio::error_code ignored;
    pipe.client.close(ignored);
    pipe.server.close(ignored);
  }

  ControlAddress target_;
  asio::io_context io_;
  tcp::acceptor acceptor_;
  std::size_t bytes_ = std::numeric_limits<std::size_t>::max();
  int connections_ = 0;
};

TEST(CutConnections, lose_nothing_and_double_nothing_wherever_they_are_cut) {
  End sender(0);
  End receiver(1);
  Cutter cutter(receiver.network.address());
  sender.network.meet({{ProcessId{1}, cutter.address()}});
  receiver.network.meet({{ProcessId{0}, sender.network.address()}});
  std::mt19937 random(7);
  std::vector<std::string> said;
  const auto deadline = Clock::now() + std::chrono::seconds(60);
  for (int i = 0; i < 400; ++i) {
    // At every byte of a connection's beginning, and then at random.
    cutter.cut_after(i < 200 ? static_cast<std::size_t>(i) : random() % 500);
    const std::string text = fmt::format("{} {}", i, std::string(random() % 40, '.'));
    said.push_back("0: " + text);
    sender.network.send(ProcessId{1}, bytes_of(text));
    for (int turns = 0; turns < 5; ++turns) {
      sender.network.drain();
      cutter.drain();
      receiver.network.drain();
    }
  }
  cutter.cut_after(std::numeric_limits<std::size_t>::max());
  while (receiver.heard.size() < said.size() && Clock::now() < deadline) {
    sender.network.drain();
    cutter.drain();
    receiver.network.drain();
    sender.network.retry();
  }
  EXPECT_EQ(receiver.heard, said);
  EXPECT_GT(cutter.connections(), 50);
}

/// Returns what a member with the key may send after its HELLO, as it goes over the wire.
std::string frames() {
  std::string bytes;
  const auto frame = [&](std::uint64_t sequence, const std::string& text) {
    const std::uint64_t size = text.size();
    bytes.append(reinterpret_cast<const char*>(&sequence), sizeof sequence);
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
    bytes += text;
  };
  frame(1, "first");
  frame(0, "pulse");
  frame(2, std::string(300, 'x'));
  return bytes;
}

TEST_F(Network, takes_any_frames_or_cuts_who_sends_them_off) {
  support::Fuzzer fuzzer;
  const auto cut_off = [&] { return counters(0).strangers + counters(0).garbage + counters(0).broken; };
  for (int i = 0; i < support::fuzz_inputs(support::few_inputs); ++i) {
    (*this)[0].drop(ProcessId{1});
    const auto before = cut_off();
    Hello hello{.from = 1, .to = 0, .key = (*this)[0].address().key};
    std::string said(reinterpret_cast<const char*>(&hello), sizeof hello);
    said = fuzzer.below(4) == 0 ? fuzzer.change(said) + frames() : said + fuzzer.change(frames());
    Stranger member((*this)[0].address());
    member.say(bytes_of(said));
    member.has_said_all();
    ASSERT_TRUE(soon([&] { return cut_off() > before; })) << i;
    heard(0).clear();
  }
  say(2, 0, "still there");
  EXPECT_TRUE(soon([&] { return !heard(0).empty(); }));
  EXPECT_THAT(heard(0), ElementsAre("2: still there"));
}

/// Returns what a member's listener sends to a connector, as it goes over the wire: that it has received nothing so
/// far, and then that the first and the second message have arrived.
std::string answers(const ControlAddress& connector) {
  std::string bytes;
  const auto add = [&](const auto& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  add(Hello{}.magic);
  add(std::uint64_t{0});
  add(connector.key);
  add(std::uint64_t{1});
  add(std::uint64_t{2});
  return bytes;
}

/// The listener of a member that answers as the test tells it.
class FakeListener {
 public:
  FakeListener() : acceptor_(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) { acceptor_.non_blocking(true); }
  ControlAddress address() const {
    return {Ipv4::loopback(), acceptor_.local_endpoint().port(), std::array<std::byte, 16>{}};
  }

  /// Sends `bytes` to a connector that has sent its HELLO, if there is one.
  bool answer(const std::string& bytes) {
    std::array<std::byte, sizeof(Hello)> hello{};
    asio::error_code error;
    if (!caller_.is_open()) acceptor_.accept(caller_, error);
    if (error) return false;
    caller_.non_blocking(true);
    heard_ += caller_.read_some(asio::buffer(hello.data(), hello.size() - heard_), error);
    if (error && error != asio::error::would_block) hang_up();  // it had connected, and was gone
    if (heard_ < hello.size()) return false;
    asio::error_code ignored;
    asio::write(caller_, asio::buffer(bytes), ignored);
    caller_.shutdown(tcp::socket::shutdown_send, ignored);
    return true;
  }
  /// Returns true if the caller has closed the connection. Bytes that it has sent before are discarded.
  bool is_alone() {
    std::array<char, 4096> passed;
    asio::error_code error;
    while (!error) caller_.read_some(asio::buffer(passed), error);
    if (error == asio::error::would_block) return false;
    hang_up();
    return true;
  }

 private:
  void hang_up() {
    caller_ = tcp::socket(io_);
    heard_ = 0;
  }

  asio::io_context io_;
  tcp::acceptor acceptor_;
  tcp::socket caller_{io_};
  std::size_t heard_ = 0;
};

/// Runs a process and the listener of its peer until `done`.
bool soon(End& caller, const std::function<bool()>& done) {
  const auto deadline = Clock::now() + std::chrono::seconds(20);
  while (!done()) {
    if (Clock::now() > deadline) return false;
    caller.network.drain();
  }
  return true;
}

TEST(CallsToMembers, keep_a_message_whose_receipt_comes_before_it_was_sent) {
  End caller(0);
  End peer(1);
  FakeListener listener;
  caller.network.meet({{ProcessId{1}, listener.address()}});
  peer.network.meet({{ProcessId{0}, caller.network.address()}});
  caller.network.send(ProcessId{1}, bytes_of("one"));
  std::string all_of_ten = answers(caller.network.address());
  all_of_ten[all_of_ten.size() - 16] = 10;
  ASSERT_TRUE(soon(caller, [&] { return listener.answer(all_of_ten); }));
  EXPECT_TRUE(soon(caller, [&] { return listener.is_alone(); }));
  EXPECT_EQ(caller.network.counters().garbage, 1U);
  EXPECT_THAT(caller.broken, ElementsAre(ProcessId{1}));

  caller.network.meet({{ProcessId{1}, peer.network.address()}});
  caller.network.retry();
  EXPECT_TRUE(soon(caller, [&] {
    peer.network.drain();
    return !peer.heard.empty();
  }));
  EXPECT_THAT(peer.heard, ElementsAre("0: one"));
}

TEST(CallsToMembers, end_when_a_member_has_had_more_messages_than_there_are) {
  End caller(0);
  FakeListener listener;
  caller.network.meet({{ProcessId{1}, listener.address()}});
  caller.network.send(ProcessId{1}, bytes_of("one"));
  std::string countless = answers(caller.network.address());
  for (std::size_t i = 8; i < 16; ++i) countless[i] = static_cast<char>(0xff);
  ASSERT_TRUE(soon(caller, [&] { return listener.answer(countless); }));
  EXPECT_TRUE(soon(caller, [&] { return listener.is_alone(); }));
  EXPECT_EQ(caller.network.counters().garbage, 1U);
  EXPECT_EQ(caller.network.counters().sent, 0U);
}

TEST(CallsToMembers, take_any_answer_or_end) {
  End caller(0);
  FakeListener listener;
  caller.network.meet({{ProcessId{1}, listener.address()}});
  support::Fuzzer fuzzer;
  int open = 0;
  for (int i = 0; i < support::fuzz_inputs(support::few_inputs); ++i) {
    if (fuzzer.below(4) != 0) caller.network.drop(ProcessId{1});  // otherwise the count continues
    caller.network.send(ProcessId{1}, bytes_of("one"));
    caller.network.send(ProcessId{1}, bytes_of("two"));
    const auto broken = caller.network.counters().broken;
    const std::string said = fuzzer.change(answers(caller.network.address()));
    ASSERT_TRUE(soon(caller, [&] {
      caller.network.retry();
      return listener.answer(said);
    })) << i;
    ASSERT_TRUE(soon(caller, [&] { return listener.is_alone(); })) << i;
    open += caller.network.counters().broken > broken ? 1 : 0;
    caller.broken.clear();
  }
  EXPECT_GT(open, 0);

  End peer(1);
  peer.network.meet({{ProcessId{0}, caller.network.address()}});
  caller.network.meet({{ProcessId{1}, peer.network.address()}});
  caller.network.drop(ProcessId{1});
  caller.network.send(ProcessId{1}, bytes_of("still there"));
  EXPECT_TRUE(soon(caller, [&] {
    peer.network.drain();
    return !peer.heard.empty();
  }));
  EXPECT_THAT(peer.heard, ElementsAre("0: still there"));
}

// ---- Dead processes, and processes that are only held dead

TEST_F(Network, forgets_what_waited_for_one_that_was_dropped_and_reaches_it_again) {
  say(0, 1, "one");
  ASSERT_TRUE(soon([&] { return heard(1).size() == 1; }));
  say(0, 1, "two");
  (*this)[0].drop(ProcessId{1});
  say(0, 1, "three");
  say(0, 1, "four");
  EXPECT_TRUE(soon([&] { return heard(1).back() == "0: four"; }));
  std::erase(heard(1), "0: two");  // it may have been on its way
  EXPECT_THAT(heard(1), ElementsAre("0: one", "0: three", "0: four"));
}

TEST_F(Network, lets_one_that_was_dropped_speak_again) {
  say(1, 0, "one");
  ASSERT_TRUE(soon([&] { return heard(0).size() == 1; }));
  (*this)[0].drop(ProcessId{1});
  turn();
  say(1, 0, "two");
  EXPECT_TRUE(soon([&] {
    (*this)[1].retry();
    return heard(0).size() >= 2;
  }));
  EXPECT_THAT(heard(0), ElementsAre("1: one", "1: two"));
}

// ---- Strangers

TEST_F(Network, turns_away_who_does_not_know_the_key) {
  Hello wrong_key{.from = 1, .to = 0};
  Hello wrong_process{.from = 1, .to = 2, .key = (*this)[0].address().key};
  Hello unknown{.from = 9, .to = 0, .key = (*this)[0].address().key};
  Hello other_program{.magic = 1, .from = 1, .to = 0, .key = (*this)[0].address().key};
  std::uint64_t turned_away = 0;
  for (const Hello& hello : {wrong_key, wrong_process, unknown, other_program}) {
    Stranger stranger((*this)[0].address());
    stranger.say(raw(hello));
    EXPECT_TRUE(soon([&] { return stranger.is_out(); }));
    EXPECT_EQ(counters(0).strangers, ++turned_away);
  }
  EXPECT_THAT(heard(0), IsEmpty());
}

TEST_F(Network, does_not_mind_strangers_that_say_anything_or_nothing) {
  std::mt19937 random(11);
  std::vector<std::unique_ptr<Stranger>> strangers;
  for (int i = 0; i < 100; ++i) {
    strangers.push_back(std::make_unique<Stranger>((*this)[0].address()));
    std::vector<std::byte> noise(random() % 300);
    for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
    strangers.back()->say(noise);
    if (i % 3 == 0) strangers.back()->leave();
    say(1, 0, std::to_string(i));
    turn();
  }
  EXPECT_TRUE(soon([&] { return heard(0).size() == 100; }));
  EXPECT_GT(counters(0).strangers, 50U);
  EXPECT_THAT(ends_[0]->broken, IsEmpty());
}

TEST_F(Network, throws_out_a_member_that_talks_nonsense_and_hears_it_again) {
  // Acts as member 1, with its key.
  Stranger member((*this)[0].address());
  member.say(raw(Hello{.from = 1, .to = 0, .key = (*this)[0].address().key}));
  const std::array<std::uint64_t, 2> too_long{1, 1U << 30};
  member.say(raw(too_long));
  EXPECT_TRUE(soon([&] { return counters(0).garbage == 1; }));
  Stranger early((*this)[0].address());
  early.say(raw(Hello{.from = 1, .to = 0, .key = (*this)[0].address().key}));
  const std::array<std::uint64_t, 2> out_of_order{7, 0};
  early.say(raw(out_of_order));
  EXPECT_TRUE(soon([&] { return counters(0).garbage == 2; }));
  say(1, 0, "sense");
  EXPECT_TRUE(soon([&] { return heard(0).size() == 1; }));
}

TEST(CallsToMembers, tell_nothing_to_who_listens_where_another_did) {
  End caller(0);
  FakeListener impostor;
  caller.network.meet({{ProcessId{1}, impostor.address()}});
  caller.network.send(ProcessId{1}, bytes_of("secret"));
  std::string wrong_key = answers(caller.network.address());
  wrong_key[16] = static_cast<char>(wrong_key[16] ^ 1);  // the first byte of the key
  ASSERT_TRUE(soon(caller, [&] { return impostor.answer(wrong_key); }));
  EXPECT_TRUE(soon(caller, [&] { return impostor.is_alone(); }));
  EXPECT_EQ(caller.network.counters().sent, 0U);
}

}  // namespace
