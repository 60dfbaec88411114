#include "tests/support/process_tree.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

namespace support {
namespace {

struct Entry {
  char state = '?';
  pid_t parent = 0;
};

std::optional<Entry> read_entry(const std::filesystem::path& folder) {
  const std::string text = text_of(folder / "stat");
  const auto after_name = text.rfind(')');  // the name may contain any character
  if (after_name == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(after_name + 1));
  Entry entry;
  if (!(fields >> entry.state >> entry.parent)) return std::nullopt;
  return entry;
}

std::map<pid_t, Entry> all_processes() {
  std::map<pid_t, Entry> processes;
  for (const auto& folder : std::filesystem::directory_iterator("/proc")) {
    const std::string name = folder.path().filename();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc{} || end != name.data() + name.size()) continue;
    if (const auto entry = read_entry(folder.path())) processes[pid] = *entry;
  }
  return processes;
}

std::string command_line(pid_t process) {
  std::string text = text_of("/proc/" + std::to_string(process) + "/cmdline");
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "(cannot run " + command + ")\n";
  std::array<char, 4096> buffer;
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), count);
  ::pclose(pipe);
  return text;
}

}  // namespace

std::filesystem::path program_of(pid_t process) {
  std::error_code gone;
  return std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/exe", gone);
}

std::string text_of(const std::filesystem::path& file) {
  // Not with an iterator over the file's buffer: that throws if a process ends between opening and reading.
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::vector<pid_t> descendants_of(pid_t ancestor) {
  const std::map<pid_t, Entry> processes = all_processes();
  std::vector<pid_t> found;
  for (const auto& [process, entry] : processes) {
    if (entry.state == 'Z') continue;
    pid_t at = entry.parent;
    while (at != ancestor && processes.contains(at)) at = processes.at(at).parent;
    if (at == ancestor) found.push_back(process);
  }
  return found;
}

std::string stacks_of(const std::vector<pid_t>& processes) {
  // All processes are stopped meanwhile. Otherwise the others would declare an examined process dead, and go on without
  // it.
  for (pid_t process : processes) ::kill(process, SIGSTOP);
  std::string text;
  for (pid_t process : processes) {
    const std::string number = std::to_string(process);
    text += "process " + number + ": " + command_line(process) + "\n" +
            output_of("timeout 20 gdb -p " + number +
                      " -batch -nx -ex 'thread apply all bt' 2>/dev/null | grep -E '^(#|Thread)'");
  }
  for (pid_t process : processes) ::kill(process, SIGCONT);
  return text;
}

}  // namespace support
