// Runs the scripts in jobs/, among programs that the tests write.

#pragma once

#include "jobs/doctor/program.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace support {

/// Runs jobs/`name`.
inline mend::jobs::ProgramEnd script(const char* name, std::vector<std::string> arguments,
                                     std::chrono::seconds limit = std::chrono::seconds(60)) {
  arguments.insert(arguments.begin(), {std::string("bash"), fmt::format("{}/jobs/{}", MEND_SOURCE_DIR, name)});
  return mend::jobs::run_program(arguments, limit);
}

/// Makes an executable file.
inline void write_program(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << "#!/bin/sh\n" << text;
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace support
