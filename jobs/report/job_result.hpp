// The result file of a job (mend run --result). The job's processes write it at the end of the job, if they reach it.
// The launcher adds the data that only it has: how a failed job has ended, and the launches before the last one
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

  /// Call it when a launch has ended and another one follows. Keeps the document that the job has written, and removes
  /// the file. Local.
  void end_launch(const LaunchEnd& end);
  /// Call it when the last launch has ended. Completes the file, unless the job has finished in its only launch.
  /// Returns a sentence if the file does not exist or cannot be written. Local.
  std::string end_job(const LaunchEnd& end);

 private:
  nlohmann::ordered_json document_of(const LaunchEnd& end) const;

  std::filesystem::path file_;
  nlohmann::ordered_json launches_ = nlohmann::ordered_json::array();
};

}  // namespace mend::jobs
