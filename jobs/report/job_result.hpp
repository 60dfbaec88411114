// The result file of a job (mend run --result). The job's processes write it at its end, as far as they come to that.
// The launcher adds what only it knows: how a job has ended that has failed, and the launches before the last one
// (--relaunch).

#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace mend::jobs {

/// The end of a launch, as the launcher sees it.
struct LaunchEnd {
  std::string program;  ///< its name; used if the job has written nothing
  int ranks = 0;
  int spares = 0;
  int number = 1;
  int exit_code = 0;
  std::string reason{};  ///< empty: unknown
};

class JobResult {
 public:
  /// `file`: empty if no result is wanted.
  explicit JobResult(std::filesystem::path file) : file_(std::move(file)) {}

  /// The launch has ended, and another one follows. Keeps what the job has written, and removes it. Local.
  void end_launch(const LaunchEnd& end);
  /// The last launch has ended. Completes the file. A job that has finished in its only launch needs nothing added.
  /// Returns a sentence if the file is not there or cannot be written. Local.
  std::string end_job(const LaunchEnd& end);

 private:
  nlohmann::ordered_json document_of(const LaunchEnd& end) const;

  std::filesystem::path file_;
  nlohmann::ordered_json launches_ = nlohmann::ordered_json::array();
};

}  // namespace mend::jobs
