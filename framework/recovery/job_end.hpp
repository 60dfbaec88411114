// The end of a job: the error of this process, and what all processes have agreed on.

#pragma once

#include "base/error.hpp"

#include <optional>
#include <string>
#include <utility>

namespace mend {

struct JobEnd {
  /// An error of this process, to be reported. It belongs to an epoch: if the job recovers, it is forgotten.
  struct Error {
    ExitCode code;
    std::string text;
    bool disk_may_help = true;
  };

  std::optional<Error> error;
  std::string own_error;           ///< an error of this process alone, which ends this process
  std::optional<ExitCode> agreed;  ///< the exit code of all processes
  bool has_lost = false;           ///< a process of the launch has died; known at the end, the same on all processes

  void fail(ExitCode code, std::string text) { error = Error{code, std::move(text)}; }
  ExitCode code() const { return error ? error->code : ExitCode::ok; }
};

}  // namespace mend
