#include "tests/fenix/snapshot/lost_data.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

namespace {

/// The first group of each match of `expression` in `text`.
std::vector<std::string> found_in(const std::string& text, const std::string& expression) {
  const std::regex wanted(expression);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), wanted), end; at != end; ++at) found.push_back((*at)[1]);
  return found;
}

}  // namespace

bool lost_data_of_ranks_that_died_together(const support::JobEnd& end) {
  bool any = false;
  for (const std::string& line : support::lines_of(end.errors)) {
    if (line.find(" is lost: ") == std::string::npos) continue;
    any = true;
    static const std::regex sentence(
        "the data of ranks? ([0-9, ]+) at version [0-9]+ is lost: the ranks that held its copies or parities died as "
        "well, or these are corrupt; the Fenix data group is empty; since the last commit or restore have died: (.*)$");
    std::smatch parts;
    if (!std::regex_search(line, parts, sentence)) {
      ADD_FAILURE() << "not of ranks that died together: " << line;
      continue;
    }
    const std::vector<std::string> dead = found_in(parts[2], "rank ([0-9]+) \\(process [0-9]+\\)");
    EXPECT_GE(dead.size(), 2U) << line;
    for (const std::string& rank : found_in(parts[1], "([0-9]+)")) EXPECT_THAT(dead, testing::Contains(rank)) << line;
    for (const std::string& rank : dead)
      EXPECT_THAT(end.errors, testing::ContainsRegex(fmt::format("rank {}: process [0-9]+ died", rank))) << line;
  }
  return any;
}
