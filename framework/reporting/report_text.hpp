// Recovery reports as a text, for a process that joins the job later.

#pragma once

#include "framework/recovery_report.hpp"

#include <span>
#include <string>
#include <vector>

namespace mend {

std::string write_reports(std::span<const RecoveryReport> recoveries);
/// What write_reports has written. Throws nlohmann::json::exception for anything else.
std::vector<RecoveryReport> read_reports(const std::string& text);

}  // namespace mend
