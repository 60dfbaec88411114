// No folder has too many files, and docs/architecture.md names every folder with code.

#include "tests/docs/documents.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

constexpr int most_files = 22;

/// Folders that may have more files, because they are lists.
constexpr std::array lists{
    "jobs/setup/patches",  // one file for each correction of Open MPI
};

/// Files that building and running leave behind, and files that are not part of the project.
bool is_left_out(const std::string& name) {
  return name.starts_with('.') || name.starts_with("build") || name == "out";
}

/// The number of files in each folder, by its name from the repository's root.
std::map<std::string, int> files_by_folder() {
  std::map<std::string, int> count;
  const fs::path root(MEND_SOURCE_DIR);
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::recursive_directory_iterator(); ++entry) {
    if (entry->is_directory()) {
      if (is_left_out(entry->path().filename().string())) entry.disable_recursion_pending();
      continue;
    }
    if (entry->path().extension() == ".btr") continue;  // left by a network library that crashes (.gitignore)
    ++count[fs::relative(entry->path().parent_path(), root).string()];
  }
  return count;
}

TEST(TheFolders, have_no_more_files_than_a_reader_can_survey) {
  std::vector<std::string> crowded;
  for (const auto& [folder, files] : files_by_folder()) {
    const bool is_list = std::ranges::find(lists, folder) != lists.end();
    if (files > most_files && !is_list) crowded.push_back(fmt::format("{} has {} files", folder, files));
  }
  EXPECT_THAT(crowded, IsEmpty()) << "move what belongs together into a folder of its own";
}

TEST(TheFolders, are_named_in_the_map_of_the_architecture) {
  const std::string map = documents::text_of("docs/architecture.md");
  std::vector<std::string> unnamed;
  int folders = 0;
  for (const auto& [folder, files] : files_by_folder()) {
    if (folder == "." || folder == "tests" || folder.starts_with("tests/")) continue;  // tests mirror the rooms
    ++folders;
    if (map.find(fmt::format("`{}/`", folder)) == std::string::npos) unnamed.push_back(folder);
  }
  EXPECT_GT(folders, 30);
  EXPECT_THAT(unnamed, IsEmpty()) << "say in docs/architecture.md what lives there";
}

}  // namespace
