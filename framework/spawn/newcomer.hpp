// A process that the job has started joins it. newcomer_host.hpp describes the sequence.

#pragma once

#include "framework/process/failure_detector.hpp"
#include "framework/recovery/agreement_provider.hpp"
#include "framework/recovery/epoch_state.hpp"
#include "framework/spawn/join_info.hpp"
#include "transport/control/connection.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace mend {

/// Exists in a process that the job has started.
class Newcomer {
 public:
  /// Connects to the host. Throws EnvironmentError if the host does not listen any more.
  explicit Newcomer(FailureDetector& detector);
  ~Newcomer();

  /// Waits until this process is needed. Returns false if it is not, and the job is over.
  bool wait();
  /// Joins the job as a spare and returns the epoch state. If that is not possible, this process ends.
  EpochState join(AgreementProvider& agreements);
  /// The data that the job has sent to this process when it joined.
  const JobRecord& record() const { return record_; }

 private:
  FailureDetector& detector_;
  ProcessId self_;
  transport::ControlAddress host_address_;
  std::unique_ptr<transport::Connection> connection_;
  std::vector<std::byte> job_;
  JobRecord record_;
};

}  // namespace mend
