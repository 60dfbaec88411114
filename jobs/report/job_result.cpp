#include "jobs/report/job_result.hpp"

#include "base/error.hpp"
#include "base/files/whole_file.hpp"
#include "base/telemetry/json_text.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

namespace mend::jobs {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the document that the job has written; nothing if the job has written none, or not into a file.
std::optional<Json> written_to(const std::filesystem::path& file) {
  const Destination destination = destination_of(file);
  if (destination.kind != Destination::Kind::file) return std::nullopt;  // reading a pipe would block
  std::ifstream in(destination.path);
  if (!in) return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return document.is_object() ? std::optional(std::move(document)) : std::nullopt;
}

}  // namespace

Json JobResult::document_of(const LaunchEnd& end) const {
  Json document = written_to(file_).value_or(Json{{"app", std::filesystem::path(end.program).filename().string()},
                                                  {"ranks", end.ranks},
                                                  {"spares", end.spares},
                                                  {"recoveries", Json::array()}});
  if (end.number > 1) document["launch"] = end.number;
  if (end.exit_code == 0) return document;
  document["exit_code"] = end.exit_code;
  if (!end.reason.empty()) document["reason"] = end.reason;
  return document;
}

void JobResult::end_launch(const LaunchEnd& end) {
  if (file_.empty()) return;
  launches_.push_back(document_of(end));
  const Destination destination = destination_of(file_);
  std::error_code ignored;  // the last launch replaces it
  if (destination.kind == Destination::Kind::file) std::filesystem::remove(destination.path, ignored);
}

std::string JobResult::end_job(const LaunchEnd& end) {
  if (file_.empty()) return "";
  const Destination destination = destination_of(file_);
  const bool is_file = destination.kind == Destination::Kind::file;
  if (end.exit_code == 0 && is_file && !std::filesystem::exists(destination.path))
    return fmt::format("there is no result in {}: the program does not use mend, or ran on another disk",
                       file_.string());
  if (end.exit_code == 0 && (launches_.empty() || !is_file)) return "";
  Json document = document_of(end);
  if (!launches_.empty()) document["launches"] = launches_;
  try {
    write_whole(file_, json_text(document, 2) + "\n");
  } catch (const EnvironmentError& error) {
    if (!is_file) return "";  // nobody reads it, which may be why the job has failed
    return fmt::format("the result {} cannot be written: {}", file_.string(), error.what());
  }
  return "";
}

}  // namespace mend::jobs
