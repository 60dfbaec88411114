#include "jobs/watch/process_table.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace mend::jobs {
namespace {

struct Entry {
  char state = '?';
  pid_t parent = 0;
  unsigned long faults_of_children = 0;  ///< children that were waited for; every process that ran has some
};

std::optional<Entry> entry_of(pid_t process) {
  std::ostringstream text;
  text << std::ifstream(fmt::format("/proc/{}/stat", process)).rdbuf();
  const std::string line = text.str();
  const auto after_name = line.rfind(')');  // the name may contain any character
  if (after_name == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(after_name + 1));
  Entry entry;
  if (!(fields >> entry.state >> entry.parent)) return std::nullopt;
  std::string other;
  for (int field = 0; field < 6; ++field) fields >> other;
  fields >> entry.faults_of_children;
  return entry;
}

}  // namespace

Condition condition_of(pid_t process) {
  const auto entry = entry_of(process);
  if (!entry || entry->state == 'Z' || entry->state == 'X') return Condition::gone;
  return entry->state == 'T' ? Condition::stopped : Condition::alive;
}

std::string name_of(pid_t process) {
  std::string name;
  std::getline(std::ifstream(fmt::format("/proc/{}/comm", process)), name);
  return name;
}

bool has_waited_for_children(pid_t process) {
  const auto entry = entry_of(process);
  return entry && entry->faults_of_children > 0;
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> pids;
  std::error_code ignored;
  for (const auto& thread : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", parent), ignored)) {
    std::ifstream list(thread.path() / "children");
    for (pid_t pid = 0; list >> pid;) pids.push_back(pid);
  }
  return pids;
}

bool descends_from(pid_t process, pid_t ancestor) {
  for (auto entry = entry_of(process); entry && entry->parent > 0; entry = entry_of(entry->parent)) {
    if (entry->parent == ancestor) return true;
  }
  return false;
}

}  // namespace mend::jobs
