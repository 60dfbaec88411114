// The text form of recovery reports, for a process that joins the job later.

#pragma once

#include "framework/recovery_report.hpp"

#include <span>
#include <string>
#include <vector>

namespace mend {

std::string write_reports(std::span<const RecoveryReport> recoveries);
/// Reads the text of write_reports. Throws nlohmann::json::exception for any other text.
std::vector<RecoveryReport> read_reports(const std::string& text);

}  // namespace mend
