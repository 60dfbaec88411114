// The failure detector on real processes: on an overloaded machine, with foreign connections, and when a process stops.
//
// MEND_SOAK_SECONDS: how long the search for false alarms lasts; default 20.

#include "tests/support/job.hpp"
#include "tests/support/process_tree.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <set>
#include <sstream>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;
using support::soon;
using support::text_of;

/// The application's processes among this process's descendants, by their rank in the launch.
std::map<int, pid_t> subjects() {
  std::map<int, pid_t> found;
  for (const pid_t process : support::descendants_of(::getpid())) {
    if (support::program_of(process) != MEND_DETECTOR_SUBJECT) continue;
    std::istringstream variables(text_of(fmt::format("/proc/{}/environ", process)));
    for (std::string variable; std::getline(variables, variable, '\0');) {
      if (variable.starts_with("PMIX_RANK=")) found[std::stoi(variable.substr(10))] = process;
    }
  }
  return found;
}

class Detected : public testing::Test {
 protected:
  support::Job job(int ranks, int spares, double seconds, int load, int heartbeat, int timeout) {
    auto made = support::mend_run(
        ranks, spares,
        {MEND_DETECTOR_SUBJECT, std::to_string(seconds), scratch_.path().string(), std::to_string(load),
         "--mend-heartbeat", std::to_string(heartbeat), "--mend-timeout", std::to_string(timeout)});
    made.deadline = std::chrono::seconds(static_cast<long>(seconds) + 120);
    return made;
  }
  /// The record of each process; empty if it wrote none.
  std::string evidence(int process) const { return text_of(scratch_.path() / std::to_string(process)); }

  support::ScratchFolder scratch_;
};

TEST_F(Detected, nobody_who_lives_however_busy_the_machine_is) {
  constexpr int ranks = 8;
  const auto end = support::run_job(job(ranks, 0, static_cast<double>(support::soak_time().count()), 1, 20, 200));
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  for (int rank = 0; rank < ranks; ++rank) EXPECT_EQ(evidence(rank), "0 0\n") << rank;
}

// ---- A process that stops

bool is_gone(pid_t process) {
  const std::string status = text_of(fmt::format("/proc/{}/stat", process));
  const auto name_end = status.rfind(')');
  return name_end == std::string::npos || status[name_end + 2] == 'Z';
}

TEST_F(Detected, a_process_that_stops_and_it_is_gone_when_it_is_continued) {
  constexpr int timeout = 500;
  std::chrono::duration<double, std::milli> took{};
  bool found = false;
  std::thread hand([&] {
    if (!soon([&] { return subjects().size() == 4; })) return;
    std::this_thread::sleep_for(std::chrono::seconds(1));  // so that they reach the loop
    const pid_t victim = subjects().at(1);
    const auto begin = Clock::now();
    ::kill(victim, SIGSTOP);
    found = soon([&] { return is_gone(victim); });
    took = Clock::now() - begin;
    ::kill(victim, SIGCONT);
  });
  const auto end = support::run_job(job(3, 1, 4, 0, 50, timeout));
  hand.join();
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_TRUE(found);
  EXPECT_LT(took.count(), 2 * timeout);
  EXPECT_EQ(evidence(1), "") << "written by a process that had been held dead";
  for (const int process : {0, 2, 3}) EXPECT_EQ(evidence(process), "1 1\n") << process;
}

// ---- Foreign connections

/// The ports at which `process` listens on the loopback interface.
std::set<std::uint16_t> listening_ports_of(pid_t process) {
  std::set<std::string> sockets;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", process), error)) {
    const std::string target = std::filesystem::read_symlink(file.path(), error).string();
    if (target.starts_with("socket:[")) sockets.insert(target.substr(8, target.size() - 9));
  }
  std::set<std::uint16_t> ports;
  std::istringstream table(text_of("/proc/net/tcp"));
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string number, local, remote, state, queues, timer, retransmits, user, timeout, inode;
    fields >> number >> local >> remote >> state >> queues >> timer >> retransmits >> user >> timeout >> inode;
    const bool listens_here = state == "0A" && local.starts_with("0100007F:");
    if (listens_here && sockets.contains(inode))
      ports.insert(static_cast<std::uint16_t>(std::stoul(local.substr(9), nullptr, 16)));
  }
  return ports;
}

int connect_to(std::uint16_t port) {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(made, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return made;
  ::close(made);
  return -1;
}

TEST_F(Detected, no_failure_when_strangers_connect_to_every_port) {
  int visits = 0;
  std::size_t most_ports = 0;
  std::thread stranger([&] {
    if (!soon([] { return subjects().size() == 4; })) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    std::mt19937 random(3);
    std::vector<int> kept;
    while (!subjects().empty()) {
      std::set<std::uint16_t> ports;
      for (const auto& [rank, process] : subjects()) ports.merge(listening_ports_of(process));
      most_ports = std::max(most_ports, ports.size());
      for (const std::uint16_t port : ports) {
        const int connection = connect_to(port);
        if (connection < 0) continue;
        ++visits;
        std::vector<unsigned> noise(random() % 100);
        for (unsigned& word : noise) word = static_cast<unsigned>(random());
        [[maybe_unused]] const auto sent =
            ::send(connection, noise.data(), noise.size() * sizeof(unsigned), MSG_NOSIGNAL);
        random() % 2 == 0 ? static_cast<void>(::close(connection)) : kept.push_back(connection);
        if (kept.size() > 200) {
          ::close(kept.front());
          kept.erase(kept.begin());
        }
      }
    }
    for (const int connection : kept) ::close(connection);
  });
  const auto end = support::run_job(job(4, 0, 4, 0, 20, 200));
  stranger.join();
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(most_ports, 4U) << "each process listens at one port, on the loopback interface";
  EXPECT_GT(visits, 20) << "a busy machine lets few in";
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(evidence(rank), "0 0\n") << rank;
}

// ---- The launcher and the runtime killed together

/// The descendant that runs mpirun, and its parent, mend run.
std::vector<pid_t> launchers() {
  std::vector<pid_t> found;
  for (const pid_t process : support::descendants_of(::getpid())) {
    const auto program = support::program_of(process).filename();
    if (program == "mend" || program == "prterun" || program == "prte") found.push_back(process);
  }
  return found;
}

TEST_F(Detected, the_end_of_the_runtime_by_every_process_spares_too) {
  std::thread hand([] {
    if (!soon([] { return subjects().size() == 4; })) return;
    std::this_thread::sleep_for(std::chrono::seconds(1));
    for (const pid_t launcher : launchers()) ::kill(launcher, SIGKILL);
  });
  const auto end = support::run_job(job(2, 2, 60, 0, 100, 1000));
  hand.join();
  EXPECT_EQ(end.exit_code, 1000 + SIGKILL);
  EXPECT_THAT(end.left_behind, testing::IsEmpty());
  EXPECT_LT(end.took.count(), 30) << "ended by itself";
}

}  // namespace
