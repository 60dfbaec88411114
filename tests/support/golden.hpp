// Runs stored as text: golden/NAME.txt of the room, one line per event. A test writes its run again and compares. After
// an intended change, MEND_UPDATE_GOLDEN=1 has the tests write the files again, to be reviewed as a diff.

#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace mend::testing {

inline void expect_golden(const std::string& name, const std::string& text) {
  // Runs that go wrong without a rule have their own folder.
  const bool without_a_rule = name.find("_without_") != std::string::npos;
  const std::filesystem::path folder = MEND_GOLDEN_FOLDER;
  const std::filesystem::path file = (without_a_rule ? folder / "rules_removed" : folder) / (name + ".txt");
  if (std::getenv("MEND_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file) << text;
    return;
  }
  std::ifstream in(file);
  ASSERT_TRUE(in) << file << " is missing: set MEND_UPDATE_GOLDEN=1 to write it";
  std::ostringstream kept;
  kept << in.rdbuf();
  EXPECT_EQ(text, kept.str()) << "the run differs from " << file
                              << "; if that is meant, set MEND_UPDATE_GOLDEN=1 and review the difference";
}

}  // namespace mend::testing
