// A finding of mend doctor: one line of text, one object for scripts.

#pragma once

#include <string>
#include <vector>

namespace mend::jobs {

enum class Level { pass, warn, fail };

struct Finding {
  Level level = Level::pass;
  std::string subject;  ///< what was checked
  std::string why;      ///< what was found, and what it means
  std::string remedy;   ///< what to type or to do; empty if nothing is wrong
};

using Findings = std::vector<Finding>;

/// 0 when all pass, 1 with warnings, 2 with failures. Pure.
int exit_code_of(const Findings& findings);

std::string text_of(const Finding& finding, bool colour);
std::string json_of(const Findings& findings);

}  // namespace mend::jobs
