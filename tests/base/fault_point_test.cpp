#include "base/fault_point.hpp"

#include <gmock/gmock.h>

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

}  // namespace
