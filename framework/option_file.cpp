#include "framework/option_file.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace mend {
namespace {

using Table = std::vector<std::string>;
const Table of_programs{"mend"};
const Table of_launcher{"mend", "run"};

bool marks_a_table(const CLI::ConfigItem& item) { return item.name == "++" || item.name == "--"; }

/// Throws UsageError if the file has a table [mend.NAME] that is not known, or tables, but nothing for mend.
void check_tables(const std::vector<CLI::ConfigItem>& items) {
  bool has_any_for_mend = items.empty();
  for (const CLI::ConfigItem& item : items) {
    const bool is_ours = !item.parents.empty() && item.parents.front() == "mend";
    if (is_ours && item.parents != of_programs && item.parents != of_launcher && !marks_a_table(item))
      throw UsageError(fmt::format("[{}] is not a table of mend: there are [mend] and [mend.run]",
                                   CLI::detail::join(item.parents, ".")));
    has_any_for_mend = has_any_for_mend || is_ours || item.parents.empty();
  }
  if (!has_any_for_mend)
    throw UsageError("nothing in it is for mend: put options into a table [mend], or outside of all tables");
}

}  // namespace

bool is_site_file(const std::string& file) {
  std::error_code unknown;
  return file != "none" && (file != usual_site_file || std::filesystem::exists(file, unknown));
}

std::vector<CLI::ConfigItem> options_in_file(const std::string& said, const std::string& file, OptionTable table) {
  std::error_code unknown;  // of a file that does not exist
  const bool readable = std::ifstream(file).good() && !std::filesystem::is_directory(file, unknown);
  if (!readable) throw CLI::ValidationError(said, fmt::format("the file {} cannot be read", file));
  try {
    std::vector<CLI::ConfigItem> items = CLI::ConfigTOML().from_file(file);
    check_tables(items);
    std::erase_if(items, marks_a_table);
    Table wanted = table == OptionTable::launcher ? of_launcher : of_programs;
    // Without a table [mend], the options of programs are outside of all tables.
    const bool is_there = std::ranges::find(items, wanted, &CLI::ConfigItem::parents) != items.end();
    if (table == OptionTable::programs && !is_there) wanted.clear();
    std::erase_if(items, [&](const CLI::ConfigItem& item) { return item.parents != wanted; });
    return items;
  } catch (const std::exception& error) {
    throw CLI::ValidationError(said, fmt::format("{}: {}", file, error.what()));
  }
}

}  // namespace mend
