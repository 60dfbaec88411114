// What a check of mend doctor has found: one line for people, one object for scripts.

#pragma once

#include <string>
#include <vector>

namespace mend::jobs {

enum class Level { pass, warn, fail };

struct Finding {
  Level level = Level::pass;
  std::string subject;  ///< what was looked at
  std::string why;      ///< what was seen, and what that means
  std::string remedy;   ///< what to type or to do; empty when nothing is wrong
};

using Findings = std::vector<Finding>;

/// 0 when all pass, 1 with warnings, 2 with failures. Pure.
int exit_code_of(const Findings& findings);

std::string text_of(const Finding& finding, bool colour);
std::string json_of(const Findings& findings);

}  // namespace mend::jobs
