#include "framework/spawn/newcomer.hpp"

#include "base/fault_point.hpp"
#include "base/launch.hpp"
#include "base/telemetry/library_wait.hpp"
#include "base/telemetry/log.hpp"
#include "framework/spawn/newcomer_handshake.hpp"
#include "framework/spawn/parent_death_signal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace mend {
namespace {

/// Connects to the host, which has opened `port`.
Communicator connect(const std::string& port) {
  MPI_Comm made = MPI_COMM_NULL;
  check_mpi(MPI_Comm_connect(port.c_str(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &made), "MPI_Comm_connect");
  return merged(returning_errors(made), true);
}

}  // namespace

Newcomer::Newcomer(FailureDetector& detector)
    : detector_(detector), self_(*launch::self()), host_address_(transport::parse_address(*launch::host_address())) {
  reach("newcomer.call");
  connection_ = transport::Connection::dial(host_address_);
  connection_->send(bytes_of(Call{self_, detector::LocalIdentity::self()}));
}

Newcomer::~Newcomer() = default;

bool Newcomer::wait() {
  const auto job = connection_->wait();
  if (!job) return false;
  job_ = *job;
  return true;
}

EpochState Newcomer::join(AgreementProvider& agreements) {
  connection_->on_end([] { std::raise(SIGKILL); });  // the host does not need this process any more
  try {
    const auto [others, state, host] = read_peers(job_, self_);
    const auto at_home = std::ranges::find(others, host, &DetectorPeer::process);
    const DetectorPeer self = detector_.begin_late(self_, at_home->peer.node, host_address_.host, others, state);
    reach("newcomer.introduce");
    connection_->send(bytes_of(self));
    const auto said = connection_->wait();
    if (!said) std::raise(SIGKILL);
    JoinInfo join_info = read_join_info(*said, self_);
    record_ = std::move(join_info.record);

    reach("newcomer.connect");
    const Communicator bridge = connect(join_info.port);
    reach("newcomer.create");
    const Communicator between = make_intercommunicator(MPI_COMM_SELF, 0, bridge, 0);
    reach("newcomer.greet");
    greet(between);
    reach("newcomer.merge");
    Communicator joined = merged(between, true);
    reach("newcomer.merged");
    connection_->send(empty_message);
    const auto admission = connection_->wait();
    if (!admission) std::raise(SIGKILL);
    connection_->on_end({});
    disarm_parent_death_signal();
    connection_.reset();

    reach("newcomer.admitted");
    EpochState& epoch_state = join_info.epoch_state;
    // With an earlier turn, this process would be judged to be behind the members (detector/stall/stuck_process.hpp).
    join_recovery_turns(epoch_state.epoch, read_admission(*admission).step);
    std::vector<ProcessId> members = epoch_state.members;
    members.push_back(self_);
    detector_.enter(members);
    agreements.number_groups_after(join_info.last_group);
    enlarge(epoch_state, self, std::move(joined), agreements);
    return std::move(epoch_state);
  } catch (const std::exception& error) {
    log::debug(fmt::format("process {} could not join the job: {}", self_.value, error.what()));
    std::raise(SIGKILL);
    throw;
  }
}

}  // namespace mend
