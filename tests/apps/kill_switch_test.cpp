#include "apps/common/kill_switch.hpp"

#include "apps/common/report.hpp"
#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace {

using apps::KillOrder;
using apps::KillSwitch;
using apps::parse_kill_order;
using mend::ProcessId;
using mend::Rank;

TEST(KillOrder, names_a_rank_a_step_and_a_point) {
  EXPECT_EQ(parse_kill_order("2@20"), (KillOrder{Rank{2}, 20, "step"}));
  EXPECT_EQ(parse_kill_order("0@5:halo"), (KillOrder{Rank{0}, 5, "halo"}));
  EXPECT_EQ(parse_kill_order("13@0:commit.vote"), (KillOrder{Rank{13}, 0, "commit.vote"}));
}

TEST(KillOrder, may_name_a_process_as_launched) {
  EXPECT_EQ(parse_kill_order("p4@0:spare.parked"), (KillOrder{ProcessId{4}, 0, "spare.parked"}));
}

TEST(KillOrder, nonsense_is_refused_with_the_text_and_the_form) {
  for (const char* text : {"", "@", "2", "2@", "@20", "2@x", "x@2", "-1@2", "2@-1", "2@20:", "2:halo@20", "p@1",
                           "p-1@1", "2@20x", " 2@20", "2 @20", "99999999999@1", "2@20@30", "+1@2"}) {
    try {
      parse_kill_order(text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const mend::UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("\"" + std::string(text) + "\""), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("RANK@STEP"), std::string::npos);
    }
  }
}

TEST(KillOrder, a_point_stands_for_itself_and_for_everything_below_it) {
  EXPECT_TRUE(apps::matches_point("commit", "commit"));
  EXPECT_TRUE(apps::matches_point("commit", "commit.vote"));
  EXPECT_TRUE(apps::matches_point("commit.vote", "commit.vote"));
  EXPECT_FALSE(apps::matches_point("commit.vote", "commit"));
  EXPECT_FALSE(apps::matches_point("commit", "committed"));
  EXPECT_FALSE(apps::matches_point("step", "halo"));
}

class KillSwitchDeath : public testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "fast");
    setenv("PMIX_RANK", "2", 1);
  }
  void TearDown() override { unsetenv("PMIX_RANK"); }

  support::ScratchFolder folder_;
  std::filesystem::path record_ = folder_ / "a.json.kills";
};

#define EXPECT_KILLED(statement) EXPECT_EXIT(statement, testing::KilledBySignal(SIGKILL), "")

TEST_F(KillSwitchDeath, comes_at_the_ordered_step_and_not_before) {
  KillSwitch kills({parse_kill_order("1@20")}, {});
  kills.play(Rank{1}, 0);
  kills.step(19);
  mend::reach("commit.vote");
  EXPECT_KILLED(kills.step(20));
}

TEST_F(KillSwitchDeath, comes_to_the_named_rank_alone) {
  KillSwitch kills({parse_kill_order("1@20")}, {});
  kills.play(Rank{2}, 0);
  kills.step(20);
  kills.play(Rank{1}, 0);
  EXPECT_KILLED(kills.step(20));
}

TEST_F(KillSwitchDeath, comes_later_where_the_step_itself_was_passed_by) {
  KillSwitch kills({parse_kill_order("1@20:commit")}, {});
  kills.play(Rank{1}, 0);
  kills.step(25);
  mend::reach("restore.unpack");
  EXPECT_KILLED(mend::reach("commit.pack"));
}

TEST_F(KillSwitchDeath, the_kth_order_for_a_rank_is_for_its_kth_process) {
  const std::vector orders{parse_kill_order("1@20"), parse_kill_order("0@7"), parse_kill_order("1@30")};
  {
    KillSwitch first(orders, {});
    first.play(Rank{1}, 0);
    EXPECT_KILLED(first.step(20));
  }
  {
    KillSwitch second(orders, {});
    second.play(Rank{1}, 1);
    second.step(20);
    EXPECT_KILLED(second.step(30));
  }
  KillSwitch third(orders, {});
  third.play(Rank{1}, 2);
  third.step(30);
  third.step(1000);
}

TEST_F(KillSwitchDeath, comes_to_a_process_that_has_begun_no_step_whatever_the_step) {
  KillSwitch kills({parse_kill_order("1@20:restore")}, {});
  mend::reach("restore.begin");  // holds no rank yet
  kills.play(Rank{1}, 0);
  EXPECT_KILLED(mend::reach("restore.begin"));
}

TEST_F(KillSwitchDeath, comes_to_a_process_by_its_launch_number_though_it_plays_no_rank) {
  KillSwitch other({parse_kill_order("p3@0:spare.parked")}, {});
  mend::reach("spare.parked");
  KillSwitch kills({parse_kill_order("p2@9:spare.parked")}, {});
  EXPECT_KILLED(mend::reach("spare.parked"));
}

TEST_F(KillSwitchDeath, is_recorded_as_one_line) {
  KillSwitch kills({parse_kill_order("1@20:halo")}, record_);
  kills.play(Rank{1}, 0);
  kills.step(20);
  EXPECT_KILLED(kills.at("halo"));

  const apps::Json lines = apps::read_kills(record_);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["rank"], 1);
  EXPECT_EQ(lines[0]["process"], 2);
  EXPECT_EQ(lines[0]["step"], 20);
  EXPECT_EQ(lines[0]["point"], "halo");
  EXPECT_GT(lines[0]["time_us"].get<long long>(), 1'500'000'000'000'000);
}

TEST_F(KillSwitchDeath, of_a_spare_is_recorded_without_rank_and_step) {
  KillSwitch kills({parse_kill_order("p2@0:spare")}, record_);
  EXPECT_KILLED(mend::reach("spare.parked"));
  const apps::Json lines = apps::read_kills(record_);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0]["rank"].is_null());
  EXPECT_TRUE(lines[0]["step"].is_null());
}

TEST_F(KillSwitchDeath, may_be_a_stop_that_happens_once) {
  const pid_t child = ::fork();
  if (child == 0) {
    apps::KillOrder order = parse_kill_order("1@20");
    order.hangs = true;
    KillSwitch kills({order}, record_);
    kills.play(Rank{1}, 0);
    kills.step(20);
    kills.step(21);
    ::_exit(7);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  EXPECT_TRUE(WIFSTOPPED(status));
  ::kill(child, SIGCONT);
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  const apps::Json lines = apps::read_kills(record_);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["hangs"], true);
}

class KillOrders : public testing::Test {
 protected:
  KillOrders() { setenv("OMPI_COMM_WORLD_SIZE", "6", 1); }
  ~KillOrders() override { unsetenv("OMPI_COMM_WORLD_SIZE"); }
  /// Returns the refusal of an order in a job of 4 ranks, 2 spares and 60 steps; empty if it is accepted.
  std::string refusal(const char* order) {
    try {
      apps::check_kill_order(parse_kill_order(order), std::vector<std::string>{"step", "halo"}, 60, 2);
      return "";
    } catch (const mend::UsageError& error) {
      return error.what();
    }
  }
};

TEST_F(KillOrders, that_can_be_obeyed_are_taken) {
  for (const char* order : {"2@20", "3@60:halo", "p5@0:spare.parked", "0@0:recovery", "1@3:commit.publish"}) {
    EXPECT_EQ(refusal(order), "") << order;
  }
}

TEST_F(KillOrders, that_never_can_are_refused) {
  EXPECT_THAT(refusal("1@3:hallo"), testing::HasSubstr("no place \"hallo\"; there are agreement, "));
  EXPECT_THAT(refusal("1@61"), testing::HasSubstr("step 60 is the last"));
  EXPECT_THAT(refusal("4@3"), testing::HasSubstr("no rank 4"));
  EXPECT_THAT(refusal("p6@3"), testing::HasSubstr("no process p6"));
}

TEST(KillRecord, stands_beside_the_result) {
  EXPECT_EQ(apps::kill_record("out/a.json"), "out/a.json.kills");
  EXPECT_EQ(apps::kill_record(""), "");
}

TEST(KillRecord, loses_its_lines_of_earlier_jobs_by_the_first_process_alone) {
  const support::ScratchFolder folder;
  const auto record = folder / "a.json.kills";
  std::ofstream(record) << R"({"job":"earlier","process":3})"
                           "\n"
                           R"({"job":"this","process":1})"
                           "\n{torn\n";
  setenv("PMIX_NAMESPACE", "this", 1);
  setenv("PMIX_RANK", "1", 1);
  { const KillSwitch kills({}, record); }
  std::ifstream untouched(record);
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(untouched), {}, '\n'), 3);
  setenv("PMIX_RANK", "0", 1);
  { const KillSwitch kills({}, record); }
  const apps::Json left = apps::read_kills(record);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0]["process"], 1) << "died in this job before the first process came by";
  unsetenv("PMIX_RANK");
  unsetenv("PMIX_NAMESPACE");
}

}  // namespace
