// What brings a job to its end: what went wrong in this process, and what all have agreed on.

#pragma once

#include "base/error.hpp"

#include <optional>
#include <string>
#include <utility>

namespace mend {

struct JobEnd {
  /// What went wrong here, for all to hear.
  struct Error {
    ExitCode code;
    std::string text;
    bool disk_may_help = true;
  };

  std::optional<Error> error;
  std::string own_error;           ///< of this process alone, which dies of it
  std::optional<ExitCode> agreed;  ///< what all exit with
  bool has_lost = false;           ///< a process of the launch has died: known at the end, the same everywhere

  void fail(ExitCode code, std::string text) { error = Error{code, std::move(text)}; }
  ExitCode code() const { return error ? error->code : ExitCode::ok; }
};

}  // namespace mend
