#include "framework/process/failure_detector.hpp"

#include "base/death/fail_stop.hpp"
#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "base/telemetry/job_status.hpp"
#include "base/telemetry/log.hpp"
#include "transport/collectives.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi-ext.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>

namespace mend {
namespace {

using transport::ControlAddress;
using transport::Interface;
using transport::Ipv4;

/// The data that a process sends when the processes first meet. Sent as raw bytes, between machines of one byte order.
struct Introduction {
  std::array<char, MPI_MAX_PROCESSOR_NAME> machine{};
  detector::LocalIdentity identity;
  detector::Time wake_up_delay{0};
  std::uint32_t interface_count = 0;
  std::array<Interface, 8> interfaces{};
};

/// The data that a process sends when its detector listens. Sent as raw bytes.
struct Reach {
  ControlAddress address;
  int lifeline = detector::Lifeline::none;
};

/// `network`: the interfaces or networks that may be used, as --mend-network names them.
Introduction introduce_self(bool with_network, std::string_view network) {
  Introduction self;
  int length = 0;
  MPI_Get_processor_name(self.machine.data(), &length);
  if (!with_network) return self;
  self.identity = detector::LocalIdentity::self();
  self.wake_up_delay = detector::measure_wake_up_delay();
  for (const Interface& interface : transport::interfaces(network)) {
    if (self.interface_count < self.interfaces.size()) self.interfaces[self.interface_count++] = interface;
  }
  return self;
}

template <class T>
std::vector<T> all_gather(const T& mine, MPI_Comm base, std::size_t size) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(size);
  call_mpi([&] { return MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, base); },
           "MPI_Allgather");
  return all;
}

/// Numbers the machines. The number of a machine is the rank of its first member, so it is the same on all processes.
std::vector<Placed> number_machines(const std::vector<Introduction>& all, const std::vector<ProcessId>& members) {
  std::map<std::string_view, NodeId> nodes;
  std::vector<Placed> placed;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const NodeId fresh{static_cast<std::uint32_t>(i)};
    placed.push_back({members[i], nodes.try_emplace(all[i].machine.data(), fresh).first->second});
  }
  return placed;
}

/// Returns the numbers of these machines. Throws UsageError for a machine that has no process of the job.
std::vector<NodeId> find_machines(const std::vector<std::string>& names, const std::vector<Introduction>& all,
                                  const std::vector<Placed>& placed) {
  std::map<std::string, NodeId> nodes;
  for (std::size_t i = 0; i < all.size(); ++i) nodes.try_emplace(all[i].machine.data(), placed[i].node);
  std::vector<NodeId> found;
  for (const std::string& name : names) {
    const auto at = nodes.find(name);
    if (at == nodes.end()) {
      throw UsageError(
          fmt::format("no process can be started on '{}' (--mend-spawn-on): the job is not there, but on {}", name,
                      fmt::join(nodes | std::views::keys, ", ")));
    }
    found.push_back(at->second);
  }
  return found;
}

/// Returns the address at which process number `self` listens: the loopback address if all processes are on one
/// machine.
std::optional<Ipv4> choose_host(const std::vector<Introduction>& all, const std::vector<Placed>& placed,
                                std::size_t self) {
  std::vector<std::vector<Interface>> machines;
  std::size_t mine = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool first_of_its_machine = placed[i].node.value == i;
    if (!first_of_its_machine) continue;
    if (placed[i].node == placed[self].node) mine = machines.size();
    const auto* const begin = all[i].interfaces.data();
    machines.emplace_back(begin, begin + all[i].interface_count);
  }
  if (machines.size() == 1) return Ipv4::loopback();
  return transport::common_address(machines, mine);
}

detector::Time slowest_of(const std::vector<Introduction>& all) {
  detector::Time slowest{0};
  for (const Introduction& one : all) slowest = std::max(slowest, one.wake_up_delay);
  return slowest;
}

/// Returns the interfaces that the user gives to MPI's messages; empty if there are none, or this machine lacks them.
std::string interfaces_of_mpi() {
  const char* const named = std::getenv("OMPI_MCA_btl_tcp_if_include");
  const bool is_usable = named != nullptr && *named != '\0' && transport::objection_to_network(named).empty() &&
                         transport::obstacle_to_network(named).empty();
  return is_usable ? named : "";
}

detector::Time whole(Milliseconds time) { return std::chrono::duration_cast<detector::Time>(time); }

}  // namespace

FailureDetector::FailureDetector(const Options& options)
    : wanted_(options.detector == Detection::ring),
      timing_{whole(options.heartbeat), whole(options.timeout)},
      stalls_{whole(options.stall), whole(options.stall_limit), whole(options.stuck_limit)},
      place_names_(options.spawn_on),
      network_(options.network) {
  if (!wanted_ && options.on_failure.spawn) {
    throw UsageError(
        "only the ring watches processes that are started later: with --mend-detector runtime, leave spawn out of "
        "--mend-on-failure");
  }
  const std::string obstacle = network_.empty() ? "" : transport::obstacle_to_network(network_);
  if (!obstacle.empty()) throw UsageError(fmt::format("--mend-network {}: {}", network_, obstacle));
  if (network_.empty()) network_ = interfaces_of_mpi();
  if (wanted_ && timing_.delta < 2 * timing_.eta) {
    throw UsageError(
        fmt::format("a time-out of {} ms with a heartbeat every {} ms would take the living for dead: make it at "
                    "least twice as long (--mend-timeout, --mend-heartbeat)",
                    options.timeout.count(), options.heartbeat.count()));
  }
}

void FailureDetector::begin() {
  const std::vector<ProcessId> all = launched_processes();

  std::vector<ProcessId> members;
  const Communicator living = shrink_until_agreed(MPI_COMM_WORLD, [&](MPI_Comm shrunk) {
    members = members_of(shrunk, MPI_COMM_WORLD, all);
    try {
      reach("start.introduce");
      return introduce(shrunk, members);
    } catch (const ProcessFailure&) {
      revoke(shrunk);
      return false;
    }
  });
  if (living) {
    if (service_) {
      service_->start(peers_);
      enter(members);
    } else if (members.size() > 1 && living.rank() == 0) {
      warn_of_untold_stalls();
    }
    reach("start.introduced");
    return;
  }
  throw CommonError("the processes could not introduce themselves to each other, though nobody died");
}

/// Warns if there are no control threads, because only they report ranks that wait.
void FailureDetector::warn_of_untold_stalls() const {
  if (stalls_.told == detector::Time{0} && stalls_.ended == detector::Time{0}) return;
  log::warn(fmt::format(
      "{}, ranks that wait for each other are not found: --mend-stall and --mend-stall-limit have no effect "
      "(set both to 0 to leave out this warning)",
      wanted_ ? "without a control network" : "with --mend-detector runtime"));
}

/// Returns false if some processes cannot listen while others can. The processes that cannot listen end, and the others
/// must meet again without them. The others revoke nothing, so that each process that cannot listen learns of it.
bool FailureDetector::introduce(MPI_Comm base, const std::vector<ProcessId>& members) {
  const bool watching = wanted_ && members.size() > 1;
  const auto all = all_gather(introduce_self(watching, network_), base, members.size());
  const std::vector<Placed> placed = number_machines(all, members);
  places_ = find_machines(place_names_, all, placed);
  peers_.clear();
  for (std::size_t i = 0; i < members.size(); ++i) peers_[members[i]] = {placed[i].node, all[i].identity, {}, {}};
  if (!watching) return true;

  int rank = 0;
  MPI_Comm_rank(base, &rank);
  const auto self = static_cast<std::size_t>(rank);
  self_ = members[self];
  const auto lowest_speaks = [&](auto say, const std::string& text) {
    if (rank == 0) say(text);
  };
  const detector::Time safe = detector::safe_delta(timing_.eta, slowest_of(all));
  if (timing_.delta < safe) {
    timing_.delta = safe;
    lowest_speaks(log::info, fmt::format("the machine is busy: a process is held dead after {:.0f} ms of silence",
                                         Milliseconds(safe).count()));
  }

  service_.reset();
  Reach mine;
  const std::optional<Ipv4> host = choose_host(all, placed, self);
  const std::string among = network_.empty() ? "" : fmt::format(" among {} (--mend-network)", network_);
  std::string obstacle = "the machines have no network in common" + among;
  if (host) lowest_speaks(log::info, "mend's own connections use " + to_string(*host));
  if (host) {
    try {
      service_ = std::make_unique<detector::Service>(members[self], *host, timing_, runtime_, stalls_);
      mine = {service_->address(), service_->lifeline()};
    } catch (const EnvironmentError& error) {
      obstacle = error.what();
    }
  }
  const auto reaches = all_gather(mine, base, members.size());
  const auto silent = std::ranges::count_if(reaches, [](const Reach& one) { return one.address.port == 0; });
  const bool some_listen = silent < std::ssize(reaches);
  if (some_listen && !service_) fail_stop(obstacle);
  if (some_listen && silent > 0) return false;
  for (std::size_t i = 0; i < members.size(); ++i) {
    peers_[members[i]].address = reaches[i].address;
    peers_[members[i]].lifeline = reaches[i].lifeline;
  }
  if (!service_) {
    lowest_speaks(log::warn, "a process that hangs will not be noticed, only one that dies: " + obstacle);
  }
  return true;
}

std::vector<DetectorPeer> FailureDetector::known_peers() const {
  std::vector<DetectorPeer> all;
  for (const auto& [process, peer] : peers_) {
    const auto latecomer = latecomers_.find(process);
    all.push_back({process, peer, latecomer == latecomers_.end() ? RuntimeName{} : latecomer->second});
  }
  return all;
}

void FailureDetector::admit(const DetectorPeer& newcomer) {
  const auto& [process, peer, name] = newcomer;
  peers_[process] = peer;
  latecomers_[process] = name;
  runtime_.know(process, name);
  service_->add(process, peer);
}

DetectorPeer FailureDetector::begin_late(ProcessId self, NodeId node, transport::Ipv4 host,
                                         const std::vector<DetectorPeer>& others, DetectorState state) {
  self_ = self;
  ring_ = state.ring;
  timing_.delta = state.timeout;
  service_ = std::make_unique<detector::Service>(self, host, timing_, runtime_, stalls_);
  for (const auto& [process, peer, name] : others) {
    peers_[process] = peer;
    const bool later = name.job.front() != 0;
    if (!later) continue;
    latecomers_[process] = name;
    runtime_.know(process, name);
  }
  peers_[self] = {node, detector::LocalIdentity::self(), service_->address(), service_->lifeline()};
  latecomers_[self] = RuntimeName::self();
  service_->start(peers_);
  return {self, peers_[self], latecomers_[self]};
}

std::vector<Placed> FailureDetector::place(const std::vector<ProcessId>& members) const {
  std::vector<Placed> placed;
  for (const ProcessId member : members) placed.push_back({member, peers_.at(member).node});
  return placed;
}

void FailureDetector::enter(const std::vector<ProcessId>& members) {
  if (!service_) return;
  ring_ = ring_.next();
  const std::uint32_t all = peers_.rbegin()->first.value + 1;
  service_->enter({ring_, all, difference(ProcessSet::first(all), ProcessSet::of(members))});
}

void FailureDetector::release_dead_processes() {
  if (service_) service_->release_dead_processes();
}

void FailureDetector::end() {
  if (!service_) return;
  service_->end();
  const auto counters = service_->counters();
  if (counters.unseen > 0) job_status::unseen();
  if (!log::debugging()) return;
  log::debug(
      fmt::format("failure detector: longest silence {:.1f} ms, held dead after {:.0f} ms; {} held dead for silence; "
                  "{} connections broken; turned away: {} strangers, {} messages of older epochs, {} that make "
                  "no sense",
                  Milliseconds(counters.longest_silence).count(), Milliseconds(counters.delta).count(),
                  counters.suspicions, counters.network.broken, counters.network.strangers, counters.old_messages,
                  counters.garbage + counters.network.garbage));
}

}  // namespace mend
