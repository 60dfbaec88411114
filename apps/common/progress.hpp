#pragma once

#include "base/clock.hpp"
#include "base/ids.hpp"

#include <cstdio>
#include <string>

namespace apps {

/// Shows the progress of the run: on a terminal, one line that is rewritten; otherwise a plain line after every tenth
/// of the steps. Only rank 0 prints.
class Progress {
 public:
  /// `steps`: the total number of steps. `out` is not owned.
  Progress(std::string app, mend::Rank self, int steps, std::FILE* out = stdout);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `step` steps are done; `epoch` failures have been recovered from. Local.
  void show(int step, mend::Epoch epoch);

 private:
  std::string line(int step, mend::Epoch epoch) const;

  std::string app_;
  int steps_;
  std::FILE* out_;
  bool speaks_;
  bool on_terminal_;
  bool line_open_ = false;
  int tenths_shown_ = 0;
  mend::Clock::time_point last_rewrite_{};
};

}  // namespace apps
