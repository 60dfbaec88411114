// The launcher's decisions at the start and at the end of a job.

#include "base/launch.hpp"
#include "jobs/watch/end_watch.hpp"
#include "jobs/watch/job_watch.hpp"
#include "jobs/watch/start_watch.hpp"
#include "tests/support/scratch_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

namespace mend::jobs {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;
using Step = StartWatch::Step;

constexpr StartLimits limits{
    .limit = milliseconds(10'000), .stall = milliseconds(1'500), .stopped = milliseconds(1'000)};

TEST(StartWatch, is_over_when_all_are_introduced) {
  StartWatch watch(limits);
  EXPECT_EQ(watch.look(milliseconds(100), {.begun = true, .reports = 6}).step, Step::wait);
  EXPECT_EQ(watch.look(milliseconds(200), {.begun = true, .introduced = true, .reports = 12}).step, Step::over);
}

TEST(StartWatch, stays_armed_until_then) {
  StartWatch watch(limits);
  EXPECT_EQ(watch.look(milliseconds(0), {.begun = true, .reports = 17}).step, Step::wait);
  EXPECT_EQ(watch.look(milliseconds(9'999), {.begun = true, .reports = 17}).step, Step::wait);
  EXPECT_EQ(watch.look(milliseconds(10'000), {.begun = true, .reports = 17}).step, Step::give_up);
}

TEST(StartWatch, counts_what_came_in_the_last_quarter_of_the_limit) {
  StartWatch slow(limits);
  EXPECT_EQ(slow.look(milliseconds(0), {.begun = true, .reports = 4}).step, Step::wait);
  EXPECT_EQ(slow.look(milliseconds(7'400), {.begun = true, .reports = 7}).step, Step::wait);
  EXPECT_EQ(slow.look(milliseconds(7'600), {.begun = true, .reports = 9}).step, Step::wait);
  EXPECT_EQ(slow.look(milliseconds(9'900), {.begun = true, .reports = 10}).step, Step::wait);
  const auto at_limit = slow.look(milliseconds(10'000), {.begun = true, .reports = 12});
  EXPECT_EQ(at_limit.step, Step::give_up);
  EXPECT_EQ(at_limit.late_reports, 5U);

  StartWatch stuck(limits);
  EXPECT_EQ(stuck.look(milliseconds(0), {.begun = true, .reports = 4}).step, Step::wait);
  EXPECT_EQ(stuck.look(milliseconds(7'400), {.begun = true, .reports = 7}).step, Step::wait);
  EXPECT_EQ(stuck.look(milliseconds(10'000), {.begun = true, .reports = 7}).late_reports, 0U);
}

TEST(StartLimit, grows_with_the_processes_of_a_core) {
  using std::chrono::seconds;
  EXPECT_EQ(usual_start_limit(4, 2), seconds(60));
  EXPECT_EQ(usual_start_limit(60, 2), seconds(60));
  EXPECT_EQ(usual_start_limit(61, 2), seconds(62)) << "31 on a core";
  EXPECT_EQ(usual_start_limit(208, 2), seconds(208));
  EXPECT_EQ(usual_start_limit(208, 64), seconds(60));
  EXPECT_EQ(usual_start_limit(100'000, std::nullopt), seconds(60)) << "on machines of which this one knows nothing";
}

TEST(StartWatch, leaves_a_program_that_has_not_come_to_MPI_its_time) {
  StartWatch watch(limits);
  EXPECT_EQ(watch.look(milliseconds(100'000), {.begun = false, .reports = 4}).step, Step::wait);
  EXPECT_EQ(watch.look(milliseconds(100'100), {.begun = true, .reports = 5}).step, Step::wait);
  EXPECT_EQ(watch.look(milliseconds(110'099), {.begun = true, .reports = 5}).step, Step::wait);
  EXPECT_EQ(watch.look(milliseconds(110'100), {.begun = true, .reports = 5}).step, Step::give_up);
}

TEST(StartWatch, tells_once_that_no_process_has_come_to_mend) {
  StartWatch watch(limits);
  EXPECT_FALSE(watch.look(milliseconds(9'999), {.reports = 4}).tell_none_came);
  EXPECT_TRUE(watch.look(milliseconds(10'000), {.reports = 4}).tell_none_came);
  EXPECT_FALSE(watch.look(milliseconds(20'000), {.reports = 4}).tell_none_came);
  StartWatch other(limits);
  EXPECT_FALSE(other.look(milliseconds(9'000), {.begun = true, .reports = 4}).tell_none_came);
  EXPECT_FALSE(other.look(milliseconds(10'000), {.begun = true, .reports = 4}).tell_none_came);
}

TEST(StartWatch, launches_anew_when_the_others_do_not_go_on_without_the_dead) {
  StartWatch watch(limits);
  const StartView sight{.begun = true, .lost = 1, .reports = 7};
  EXPECT_EQ(watch.look(milliseconds(100), sight).step, Step::wait);
  EXPECT_EQ(watch.look(milliseconds(1'599), sight).step, Step::wait);
  EXPECT_EQ(watch.look(milliseconds(1'600), sight).step, Step::launch_anew);
}

TEST(StartWatch, launches_nothing_anew_once_a_process_is_introduced_and_may_have_computed) {
  StartWatch watch(limits);
  const StartView sight{.begun = true, .some_introduced = true, .lost = 1, .reports = 7};
  EXPECT_EQ(watch.look(milliseconds(100), sight).step, Step::wait);
  EXPECT_EQ(watch.look(milliseconds(9'000), sight).step, Step::wait);
}

TEST(StartWatch, waits_as_long_as_the_others_go_on_without_the_dead) {
  StartWatch watch(limits);
  for (int round = 1; round < 9; ++round) {
    const StartView sight{.begun = true, .lost = 1, .reports = static_cast<std::size_t>(round)};
    EXPECT_EQ(watch.look(milliseconds(1'000 * round), sight).step, Step::wait);
  }
}

TEST(StartWatch, launches_nothing_anew_because_a_start_is_slow) {
  StartWatch watch(limits);
  const StartView sight{.begun = true, .reports = 7};
  EXPECT_EQ(watch.look(milliseconds(100), sight).step, Step::wait);
  EXPECT_EQ(watch.look(milliseconds(9'000), sight).step, Step::wait);
}

TEST(StartWatch, kills_the_stopped_for_whom_others_wait) {
  StartWatch watch(limits);
  const StartView sight{.begun = true, .stopped = {7}, .others_wait = true, .reports = 7};
  EXPECT_THAT(watch.look(milliseconds(100), sight).kill, IsEmpty());
  EXPECT_THAT(watch.look(milliseconds(1'099), sight).kill, IsEmpty());
  EXPECT_THAT(watch.look(milliseconds(1'100), sight).kill, ElementsAre(7));
}

TEST(StartWatch, spares_those_that_go_on_and_a_job_that_is_suspended_as_a_whole) {
  StartWatch watch(limits);
  const StartView stopped{.begun = true, .stopped = {7}, .others_wait = true, .reports = 7};
  EXPECT_THAT(watch.look(milliseconds(100), stopped).kill, IsEmpty());
  EXPECT_THAT(watch.look(milliseconds(900), {.begun = true, .others_wait = true, .reports = 7}).kill, IsEmpty());
  EXPECT_THAT(watch.look(milliseconds(1'200), stopped).kill, IsEmpty());

  StartWatch whole(limits);
  const StartView suspended{.begun = true, .stopped = {7, 8}, .others_wait = false, .reports = 7};
  EXPECT_THAT(whole.look(milliseconds(100), suspended).kill, IsEmpty());
  EXPECT_THAT(whole.look(milliseconds(5'000), suspended).kill, IsEmpty());
}

/// A job of this process, whose rank is in a child that it has forked. The reports of the child have another number.
TEST(JobWatch, takes_forked_children_for_introduced_processes) {
  const support::ScratchFolder scratch;
  const auto status = scratch / "status";
  const auto is_wanted = [&] {
    JobWatch watch(status, {.start = {.limit = milliseconds(0)}, .processes = 1, .all_here = true});
    return watch.look({.child = ::getpid(), .guard = -1}).wanted;
  };
  std::ofstream(status) << fmt::format("loaded {} {}\nstarted\nrunning\n", ::getpid(), launch::machine());
  EXPECT_FALSE(is_wanted()) << "the limit is over";
  std::ofstream(status, std::ios::app) << fmt::format("introduced {}\n", ::getpid() + 1);
  EXPECT_TRUE(is_wanted());
}

TEST(JobWatch, does_not_count_processes_that_a_recovery_has_started_among_the_introduced) {
  const support::ScratchFolder scratch;
  const auto status = scratch / "status";
  const std::string machine = launch::machine();
  std::ofstream(status) << fmt::format("loaded {0} {1}\nstarted\nrunning\nloaded {2} {1} later\nintroduced {2}\n",
                                       ::getpid(), machine, ::getpid() + 1);
  EXPECT_EQ(read_reports(status, machine).introduced, 0);
}

constexpr milliseconds end_limit{10'000};

TEST(EndWatch, does_nothing_before_the_end) {
  EndWatch watch(end_limit);
  EXPECT_THAT(watch.look(milliseconds(0), {.stopped = {7}, .lingering = {8}}).kill, IsEmpty());
  EXPECT_THAT(watch.look(milliseconds(100'000), {.stopped = {7}, .lingering = {8}}).kill, IsEmpty());
}

TEST(EndWatch, kills_those_that_are_stopped_first_and_then_those_that_hang) {
  EndWatch watch(end_limit);
  const EndView sight{.agreed = true, .stopped = {7}, .lingering = {8, 9}};
  EXPECT_THAT(watch.look(milliseconds(1'000), sight).kill, IsEmpty());
  EXPECT_THAT(watch.look(milliseconds(10'999), sight).kill, IsEmpty());
  EXPECT_THAT(watch.look(milliseconds(11'000), sight).kill, ElementsAre(7));
  const EndView others{.agreed = true, .lingering = {8, 9}};
  EXPECT_THAT(watch.look(milliseconds(11'100), others).kill, IsEmpty()) << "they may have waited for that one";
  EXPECT_THAT(watch.look(milliseconds(21'100), others).kill, ElementsAre(8, 9));
}

TEST(EndWatch, leaves_the_programs_own_work_its_time) {
  EndWatch watch(end_limit);
  const EndView sight{.agreed = true, .working = {7, 8}};
  for (int s = 0; s < 100; ++s) {
    const auto decision = watch.look(std::chrono::seconds(s), sight);
    EXPECT_THAT(decision.kill, IsEmpty());
    EXPECT_EQ(decision.tell, s == 10 ? sight.working : std::vector<pid_t>{}) << "once";
    EXPECT_FALSE(decision.end_job);
  }
}

TEST(EndWatch, ends_the_job_elsewhere_when_nobody_is_left_here_and_it_goes_on) {
  EndWatch watch(end_limit);
  watch.look(milliseconds(0), {.agreed = true, .lingering = {8}});
  EXPECT_THAT(watch.look(milliseconds(10'000), {.agreed = true, .lingering = {8}}).kill, ElementsAre(8));
  EXPECT_FALSE(watch.look(milliseconds(19'000), {.agreed = true}).end_job);
  EXPECT_FALSE(watch.look(milliseconds(20'000), {.agreed = true, .working = {9}}).end_job);
  EXPECT_TRUE(watch.look(milliseconds(20'100), {.agreed = true}).end_job);
}

}  // namespace
}  // namespace mend::jobs
