// docs/tutorial.md quotes the programs of its steps unchanged, and each step survives kill -9 as the page says.

#include "tests/docs/documents.hpp"
#include "tests/support/job.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr std::array steps{"step1_plain", "step2_run", "step3_commit", "step4_report", "step5_in_place", "step6_disk"};

std::string source(const std::string& step) { return fmt::format("apps/tutorial/{}.cpp", step); }
std::string program(const std::string& step) { return fmt::format("{}/{}", MEND_TUTORIAL, step); }

/// The output of `diff` for two steps; a line "@@" stands for lines that are left out.
std::string difference(const std::string& before, const std::string& after) {
  support::Job job;
  job.command = {"sh", "-c",
                 fmt::format("cd {} && diff --unified=1 {} {} | tail -n +3 | sed 's/^@@.*/@@/'", MEND_SOURCE_DIR,
                             source(before), source(after))};
  return support::run_job(job).output;
}

TEST(TheTutorial, quotes_its_programs_as_they_are) {
  const std::string page = documents::text_of("docs/tutorial.md");
  EXPECT_EQ(documents::block_after(page, "apps/tutorial/plate.hpp"), documents::text_of("apps/tutorial/plate.hpp"));
  EXPECT_EQ(documents::block_after(page, source(steps[0])), documents::text_of(source(steps[0])));
  for (std::size_t i = 1; i < steps.size(); ++i)
    EXPECT_EQ(documents::block_after(page, source(steps[i])), difference(steps[i - 1], steps[i])) << steps[i];
}

/// Distinguishes the processes of this test from those of another test that runs at the same time.
constexpr auto test_variable = "MEND_TEST_TUTORIAL";

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Sends a signal to the processes on this machine that run `executable` and for which `matches` returns true for
/// /proc/PID. Returns their number.
int signal_those(const fs::path& executable, int signal, const std::function<bool(const fs::path&)>& matches) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::error_code error;
    if (fs::read_symlink(entry.path() / "exe", error) != fs::canonical(executable) || !matches(entry.path())) continue;
    ::kill(std::stoi(entry.path().filename()), signal);
    ++count;
  }
  return count;
}

/// A user's `kill -9` of the process that was launched as number `process`.
int kill_process(const std::string& step, int process) {
  return signal_those(program(step), SIGKILL, [&](const fs::path& proc) {
    const std::string environment = '\0' + bytes_of(proc / "environ");
    const auto has = [&](const std::string& variable) {
      return environment.find('\0' + variable + '\0') != std::string::npos;
    };
    return has(fmt::format("PMIX_RANK={}", process)) && has(fmt::format("{}={}", test_variable, ::getpid()));
  });
}

/// Asks the `mend run` that this test has started to leave.
int ask_to_leave() {
  return signal_those(MEND_COMMAND, SIGTERM, [](const fs::path& proc) {
    const std::string stat = bytes_of(proc / "stat");
    return stat.find(fmt::format(" {} ", ::getpid()), stat.rfind(')')) < stat.rfind(')') + 16;
  });
}

/// Calls `act` once, when the program has printed its 1000th step.
std::function<void(const std::string&)> at_step_1000(std::function<void()> act) {
  return [act = std::move(act), done = false](const std::string& output) mutable {
    if (done || output.find("step 1000") == std::string::npos) return;
    done = true;
    act();
  };
}

struct Outcome {
  support::JobEnd end;
  nlohmann::json result;
};

Outcome play(const std::string& step, int ranks, const std::vector<std::string>& options,
             const std::function<void(const std::string&)>& on_output) {
  const support::ScratchFolder folder;
  const auto file = folder.path() / "result.json";
  std::vector<std::string> words{program(step)};
  words.insert(words.end(), options.begin(), options.end());
  support::Job job = support::mend_run(ranks, 2, words);
  job.command.insert(job.command.begin() + 2, {"--result", file.string()});
  job.environment[test_variable] = std::to_string(::getpid());
  job.on_output = on_output;
  Outcome run{support::run_job(job), {}};
  std::ifstream in(file);
  run.result = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  return run;
}

/// The line with the answer, which is the same for all steps.
std::string answer(const std::string& output) {
  for (const std::string& line : support::lines_of(output)) {
    if (line.starts_with("heat ")) return line;
  }
  return "no answer in: " + output;
}

support::Job plain_job() {
  support::Job job;
  job.command = {MEND_MPIRUN, "-n", "4", "--map-by", ":OVERSUBSCRIBE", program("step1_plain")};
  job.environment = {{test_variable, std::to_string(::getpid())},
                     {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                     {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
  return job;
}

TEST(TheTutorial, step_1_loses_everything_with_a_process) {
  support::Job job = plain_job();
  job.on_output = at_step_1000([] { EXPECT_EQ(kill_process("step1_plain", 1), 1); });
  const auto end = support::run_job(job);
  EXPECT_NE(end.exit_code, 0);
  EXPECT_THAT(end.output, Not(HasSubstr("heat ")));
}

class AStepOfTheTutorial : public testing::TestWithParam<const char*> {};

TEST_P(AStepOfTheTutorial, has_the_answer_of_the_plain_program_although_a_process_was_killed) {
  const std::string step = GetParam();
  const std::string plain = answer(support::run_job(plain_job()).output);
  const Outcome killed =
      play(step, 4, {"--mend-commit-every=100"}, at_step_1000([&] { EXPECT_EQ(kill_process(step, 1), 1); }));
  ASSERT_EQ(killed.end.exit_code, 0) << killed.end.errors;
  EXPECT_THAT(killed.result.at("recoveries"), SizeIs(1));
  EXPECT_THAT(killed.end.errors, HasSubstr("1 recovery: 1 process died, 1 rank was taken over")) << "survivors survive";
  EXPECT_EQ(answer(killed.end.output), plain);
  const bool begins_anew = killed.end.output.find("step 500") != killed.end.output.rfind("step 500");
  EXPECT_EQ(begins_anew, step == "step2_run") << killed.end.output;
}

INSTANTIATE_TEST_SUITE_P(All, AStepOfTheTutorial,
                         testing::Values("step2_run", "step3_commit", "step4_report", "step5_in_place", "step6_disk"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST(TheTutorial, step_6_leaves_when_asked_and_goes_on_with_fewer_ranks) {
  const support::ScratchFolder folder;
  const std::string disk = "--mend-disk=" + (folder.path() / "disk").string();
  const Outcome whole = play("step6_disk", 3, {}, {});
  const Outcome left =
      play("step6_disk", 4, {disk, "--mend-commit-every=100"}, at_step_1000([] { EXPECT_EQ(ask_to_leave(), 1); }));
  EXPECT_EQ(left.end.exit_code, 4) << left.end.errors;
  EXPECT_THAT(left.end.output, Not(HasSubstr("heat ")));
  const Outcome next = play("step6_disk", 3, {disk}, {});
  ASSERT_EQ(next.end.exit_code, 0) << next.end.errors;
  EXPECT_THAT(next.end.output, Not(HasSubstr("step 500")));
  EXPECT_EQ(next.result.at("hash"), whole.result.at("hash"));
}

}  // namespace
