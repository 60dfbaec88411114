// A spare that is parked, as the kernel sees it.

#include "base/fault_point.hpp"
#include "base/launch.hpp"
#include "base/telemetry/job_board.hpp"
#include "tests/framework/subject/subject.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>

namespace subject {
namespace {

/// What the kernel counts of a thread.
struct Counted {
  std::string name;
  std::uint64_t sleeps = 0;       // voluntary context switches: it has waited, so it was woken before
  std::uint64_t nanoseconds = 0;  // on a core
  bool operator==(const Counted&) const = default;
};
using Threads = std::map<pid_t, Counted>;

Counted count_of(const std::filesystem::path& thread) {
  Counted counted;
  std::getline(std::ifstream(thread / "comm"), counted.name);
  std::ifstream status(thread / "status");
  for (std::string word; status >> word;) {
    if (word == "voluntary_ctxt_switches:") status >> counted.sleeps;
  }
  std::ifstream(thread / "schedstat") >> counted.nanoseconds;
  return counted;
}

/// All threads of this process but the one that asks.
Threads threads() {
  Threads all;
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/task")) {
    const pid_t id = std::stoi(one.path().filename().string());
    if (id != ::syscall(SYS_gettid)) all[id] = count_of(one.path());
  }
  return all;
}

std::uint64_t heartbeats() { return mend::board::mine().heartbeats; }

/// Returns when the main thread is parked: it has not run for a tenth of a second.
void await_rest() {
  const pid_t main = ::getpid();
  for (Counted before, now; before.name.empty() || now != before;) {
    before = threads().at(main);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    now = threads().at(main);
  }
}

/// Heartbeats are read outside the kernel's counts, so that none of those is without its heartbeat.
void watch(std::chrono::seconds time, const std::filesystem::path& into) {
  await_rest();
  const std::uint64_t beats_before = heartbeats();
  const Threads before = threads();
  std::this_thread::sleep_for(time);
  const Threads after = threads();
  const std::uint64_t beats = heartbeats() - beats_before;
  std::string said = fmt::format("{} threads, then {}, heartbeats {}", before.size(), after.size(), beats);
  for (const auto& [id, now] : after) {
    const Counted then = before.contains(id) ? before.at(id) : Counted{};
    const char* const name = id == ::getpid() ? "main" : now.name.c_str();
    said += fmt::format("; {}: {} sleeps, {} ns", name, now.sleeps - then.sleeps, now.nanoseconds - then.nanoseconds);
  }
  const auto unfinished = into.parent_path() / "unfinished";
  std::ofstream(unfinished) << said;
  std::filesystem::rename(unfinished, into);
}

}  // namespace

mend::Body watch_a_parked_spare(std::string_view what) {
  const std::chrono::seconds time(std::atoi(std::string(what).c_str()));
  const std::filesystem::path seen = std::filesystem::path(what.substr(what.find(';') + 1)) / "seen";
  const bool with_deaths = what.substr(0, what.find(';')).ends_with(" after deaths");
  const auto parked = std::make_shared<int>(0);
  mend::on_fault_point([=](std::string_view point) {
    const bool is_watched = point == "spare.parked" && ++*parked == (with_deaths ? 2 : 1);
    if (is_watched) std::thread([time, seen] { watch(time, seen); }).detach();
    if (with_deaths && point == "recovery.split" && mend::launch::self() == mend::ProcessId{1}) die();
  });
  return [=](mend::Session& session) {
    if (with_deaths && is_first(session, 2)) die();
    for (int go_on = 1; go_on != 0;) {
      go_on = session.rank() == mend::Rank{0} && std::filesystem::exists(seen) ? 0 : 1;
      MPI_Bcast(&go_on, 1, MPI_INT, 0, session.comm());
    }
    if (session.rank() != mend::Rank{0}) return;
    std::string said;
    std::getline(std::ifstream(seen), said);
    say(session, said);
  };
}

}  // namespace subject
