#include "apps/common/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

namespace apps {
namespace {

constexpr mend::Milliseconds rewrite_interval{100};

/// mpirun gives every process a terminal of its own, even if the user has none. `mend run` knows, and sets the
/// variable.
bool people_watch(std::FILE* out) {
  const char* const told = std::getenv("MEND_TERMINAL");
  return ::isatty(::fileno(out)) == 1 && (told == nullptr || std::string_view(told) == "1");
}

}  // namespace

Progress::Progress(std::string app, mend::Rank self, int steps, std::FILE* out)
    : app_(std::move(app)), steps_(steps), out_(out), speaks_(self == mend::Rank{0}), on_terminal_(people_watch(out)) {}

Progress::~Progress() {
  // The next output, for instance a log line about a failure, then starts on a line of its own.
  if (line_open_) std::fputc('\n', out_);
}

void Progress::show(int step, mend::Epoch epoch) {
  if (!speaks_) return;
  const bool last = step >= steps_;
  if (on_terminal_) {
    const auto now = mend::Clock::now();
    if (!last && now - last_rewrite_ < rewrite_interval) return;
    last_rewrite_ = now;
    fmt::print(out_, "\r\x1b[K{}{}", line(step, epoch), last ? "\n" : "");
    line_open_ = !last;
  } else {
    const int tenths = steps_ > 0 ? static_cast<int>(10L * step / steps_) : 10;
    if (tenths <= tenths_shown_) return;
    tenths_shown_ = tenths;
    fmt::print(out_, "{}\n", line(step, epoch));
  }
  std::fflush(out_);
}

std::string Progress::line(int step, mend::Epoch epoch) const {
  const long percent = steps_ > 0 ? 100L * step / steps_ : 100;
  std::string text = fmt::format("{}: step {} of {} ({} %)", app_, step, steps_, percent);
  if (epoch.value > 0) {
    text += fmt::format(", {} {} survived", epoch.value, epoch.value == 1 ? "failure" : "failures");
  }
  return text;
}

}  // namespace apps
