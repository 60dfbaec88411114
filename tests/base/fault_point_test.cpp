#include "base/fault_point.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using testing::ElementsAre;

class FaultPoints : public testing::Test {
 protected:
  ~FaultPoints() override { mend::on_fault_point({}); }
};

TEST_F(FaultPoints, are_told_to_the_listener_in_order) {
  std::vector<std::string> reached;
  mend::on_fault_point([&](std::string_view point) { reached.emplace_back(point); });
  mend::reach("commit.pack");
  mend::reach("commit.vote");
  EXPECT_THAT(reached, ElementsAre("commit.pack", "commit.vote"));
}

TEST_F(FaultPoints, pass_unheard_when_nobody_listens) {
  int heard = 0;
  mend::on_fault_point([&](std::string_view) { ++heard; });
  mend::on_fault_point({});
  mend::reach("commit.pack");
  EXPECT_EQ(heard, 0);
}

TEST_F(FaultPoints, have_one_listener_at_a_time) {
  int first = 0;
  int second = 0;
  mend::on_fault_point([&](std::string_view) { ++first; });
  mend::on_fault_point([&](std::string_view) { ++second; });
  mend::reach("commit.pack");
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

TEST_F(FaultPoints, may_be_left_by_an_exception) {
  mend::on_fault_point([](std::string_view) { throw std::runtime_error("here"); });
  EXPECT_THROW(mend::reach("commit.pack"), std::runtime_error);
}

/// Returns the texts between `before` and the next quotation mark in mend's sources.
std::set<std::string> quoted_after(const std::string& before) {
  std::set<std::string> found;
  for (const char* room : {"base", "transport", "agreement", "detector", "spares", "store", "framework"}) {
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(MEND_SOURCE_FOLDER) / room)) {
      if (file.path().extension() != ".cpp" && file.path().extension() != ".hpp") continue;
      std::ifstream in(file.path());
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      for (auto at = text.find(before); at != std::string::npos; at = text.find(before, at + 1)) {
        const auto begin = at + before.size();
        found.insert(text.substr(begin, text.find('"', begin) - begin));
      }
    }
  }
  return found;
}

TEST(TheListOfFaultPoints, has_all_there_are_and_no_others) {
  EXPECT_EQ(quoted_after(" reach(\""),
            std::set<std::string>(std::begin(mend::fault_points), std::end(mend::fault_points)));
}

}  // namespace
