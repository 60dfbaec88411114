// Processes that are started in the background, to replace a spare that was used. They, or the process that started
// them, stop or die while they wait. And one that is started when a rank needs it, and is slow.

#include "tests/support/subject_job.hpp"
#include "tests/support/process_tree.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>

namespace {

using support::JobEnd;
using testing::ElementsAre;
using testing::HasSubstr;

bool has_thread(pid_t process, const std::string& name) {
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process), gone)) {
    if (support::text_of(task.path() / "comm") == name + "\n") return true;
  }
  return false;
}

/// The process started in the background, when it waits and its host watches it; 0 before that.
pid_t one_that_waits() {
  const std::vector<pid_t> all = support::descendants_of(::getpid());
  if (std::ranges::none_of(all, [](pid_t process) { return has_thread(process, "mend-newcomer"); })) return 0;
  for (const pid_t process : all) {
    const bool is_it =
        support::text_of(fmt::format("/proc/{}/environ", process)).find("MEND_PROCESS=5") != std::string::npos;
    if (is_it && has_thread(process, "mend-connection")) return process;
  }
  return 0;
}

using Folder = std::filesystem::path;

/// Ranks 0 to 3, one spare. Rank 1 dies, and the spare takes over; while the others compute, process 5 is started. Then
/// `when_it_is_started` is called, and after that rank `doomed` dies. `folder`: see subject::keep_a_pool.
JobEnd with_a_pool(int doomed, const Folder& folder, const std::function<void()>& when_it_is_started) {
  support::Job job = support::mend_run(
      4, 1,
      {MEND_SUBJECT, fmt::format("keeps_a_pool:{};{}", folder.string(), doomed), "--mend-on-failure", "spare,spawn"});
  bool done = false;
  job.on_output = [&](const std::string& output) {
    if (done || output.find("a process is started") == std::string::npos) return;
    done = true;
    when_it_is_started();
    std::ofstream(folder / "go");
  };
  const JobEnd end = support::run_job(job);
  EXPECT_TRUE(done) << end.errors;
  return end;
}

/// The same; calls `when_it_waits` with the started process when it waits.
JobEnd with_one_that_waits(int doomed, const std::function<void(pid_t)>& when_it_waits) {
  const support::ScratchFolder folder;
  return with_a_pool(doomed, folder.path(), [&] {
    pid_t process = 0;
    EXPECT_TRUE(support::soon([&] { return (process = one_that_waits()) != 0; }));
    if (process != 0) when_it_waits(process);
  });
}

/// Expects that all ranks have come to the end in time. Returns the output on standard error without the summary.
std::vector<std::string> expect_all_here(const JobEnd& end) {
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_LT(end.took, std::chrono::seconds(20)) << "--mend-spawn-limit is more";
  EXPECT_THAT(said(end), testing::IsSupersetOf({"rank 0: is here in epoch 2", "rank 1: is here in epoch 2",
                                                "rank 2: is here in epoch 2", "rank 3: is here in epoch 2"}));
  std::vector<std::string> lines = support::complaints(end);
  std::erase_if(lines,
                [](const std::string& line) { return line.find(" until the data was back") != std::string::npos; });
  return lines;
}

constexpr const char* warning =
    "process 5 was started to take over a rank, and has been silent for 1000 ms: it is ended";

TEST(AProcessThatWaits, takes_over_when_it_is_needed) {
  const auto end = with_one_that_waits(2, [](pid_t) {});
  EXPECT_THAT(expect_all_here(end), testing::IsEmpty());
}

TEST(AProcessThatWaits, is_ended_and_replaced_when_it_is_stopped_and_needed) {
  const auto end = with_one_that_waits(2, [](pid_t process) { ::kill(process, SIGSTOP); });
  EXPECT_THAT(expect_all_here(end), ElementsAre(HasSubstr(warning)));
}

TEST(AProcessThatWaits, is_ended_when_it_is_stopped_although_nobody_needs_it) {
  const auto end = with_one_that_waits(2, [](pid_t process) {
    ::kill(process, SIGSTOP);
    EXPECT_TRUE(support::soon([&] { return one_that_waits() != process; }));
  });
  EXPECT_THAT(expect_all_here(end), ElementsAre(HasSubstr(warning)));
}

TEST(AProcessThatWaits, ends_with_the_process_that_started_it) {
  const auto end = with_one_that_waits(0, [](pid_t) {});
  EXPECT_THAT(expect_all_here(end), testing::IsEmpty());
}

TEST(AProcessThatWaits, ends_with_the_process_that_started_it_although_it_is_stopped) {
  const auto end = with_one_that_waits(0, [](pid_t process) { ::kill(process, SIGSTOP); });
  EXPECT_THAT(expect_all_here(end), testing::IsEmpty());
}

TEST(AProcessThatWaits, ends_with_the_process_that_started_it_although_it_was_stopped_on_its_way) {
  const support::ScratchFolder folder;
  std::ofstream(folder.path() / "stop");
  const auto end = with_a_pool(0, folder.path(), [&] {
    EXPECT_TRUE(support::soon([&] { return !std::filesystem::exists(folder.path() / "stop"); }));
  });
  EXPECT_THAT(expect_all_here(end), testing::IsEmpty());
}

/// Each of its steps takes less than the limit, and together they take more.
TEST(AProcessThatIsStarted, has_one_limit_for_all_its_steps_into_the_job) {
  const auto end = play("a_started_process_is_slow", 3, 0, {"--mend-on-failure=spawn", "--mend-spawn-limit=5"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), counted(3, 10, 1));
  EXPECT_THAT(end.errors, HasSubstr("a process was started to take over a rank, and has not come within 5 s"));
  EXPECT_THAT(end.errors, testing::ContainsRegex("process 1 died .SIGKILL., process [4-9] took over"));
}

}  // namespace
