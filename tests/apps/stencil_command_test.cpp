// The stencil as its users run it: launched by `mend run`, and checked by its exit code, its output and its files.

#include "tests/support/scratch_folder.hpp"
#include "tests/support/mend_process.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Words = std::vector<std::string>;

struct Ended {
  int code = 0;
  std::string output;
  std::string errors;
};

Ended run_stencil(int ranks, int spares, const Words& arguments) {
  Words line{"run", "-n", std::to_string(ranks), "--spares", std::to_string(spares), "--", MEND_STENCIL};
  line.insert(line.end(), arguments.begin(), arguments.end());
  MendProcess process(line);
  const int code = process.wait();
  return {code, process.output(), process.errors()};
}

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

nlohmann::json json_of(const std::filesystem::path& file) { return nlohmann::json::parse(text_of(file)); }

class WrongArguments : public testing::TestWithParam<std::pair<Words, std::string>> {};

TEST_P(WrongArguments, are_one_sentence_and_exit_code_2) {
  const auto& [arguments, about] = GetParam();
  const Ended run = run_stencil(2, 0, arguments);
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.output, IsEmpty());
  EXPECT_THAT(run.errors, HasSubstr(about));
  EXPECT_EQ(std::ranges::count(run.errors, '\n'), 1) << run.errors;
}

INSTANTIATE_TEST_SUITE_P(Stencil, WrongArguments,
                         testing::Values(std::pair{Words{"--nx", "0"}, "--nx"},
                                         std::pair{Words{"--size", "-4"}, "--size"},
                                         std::pair{Words{"--size", "8", "--nx", "4"}, "--size"},
                                         std::pair{Words{"--order", "3"}, "the order must be 2 or 8, not 3"},
                                         std::pair{Words{"--courant", "1.5"}, "--courant"},
                                         std::pair{Words{"--courant", "nan"}, "--courant"},
                                         std::pair{Words{"--steps", "-1"}, "--steps"},
                                         std::pair{Words{"--kill", "2:halo"}, "RANK@STEP"},
                                         std::pair{Words{"--steps", "20", "--kill", "1@20"}, "step 19 is the last"},
                                         std::pair{Words{"--nx", "2147483647"}, "from 1 to 1000000 cells"},
                                         std::pair{Words{"--nx", "50000", "--ny", "50000", "--plot", "plane.png"},
                                                   "a slice of 2500000000 values is too large"},
                                         std::pair{Words{"--result", "/nonexistent/a.json"}, "no folder /nonexistent"},
                                         std::pair{Words{"--size", "1"}, "2 ranks cut the 1 x 1 x 1 grid"},
                                         std::pair{Words{"--size", "7", "--order", "8"}, "needs 4"}));

TEST(Stencil, has_the_same_answer_when_one_rank_or_its_cluster_goes_back) {
  const support::ScratchFolder folder;
  const auto answer = [&](const std::string& name, int spares, const Words& more) {
    Words arguments{"--size",         "16", "--steps",  "12",
                    "--commit-every", "2",  "--result", (folder.path() / name).string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended run = run_stencil(4, spares, arguments);
    EXPECT_EQ(run.code, 0) << run.errors;
    if (spares > 0) {
      EXPECT_THAT(run.errors, HasSubstr(more.size() > 4 ? "only ranks 2, 3 go back to version"
                                                        : "only rank 2 goes back to version"));
    }
    return json_of(folder.path() / name).at("field_hash");
  };
  const auto undisturbed = answer("undisturbed.json", 0, {});
  EXPECT_EQ(answer("local.json", 1, {"--mend-rollback", "local", "--kill", "2@7"}), undisturbed);
  EXPECT_EQ(answer("clusters.json", 1, {"--mend-rollback", "local", "--kill", "2@7", "--mend-clusters", "2"}),
            undisturbed);
}

TEST(Stencil, whose_version_on_disk_is_of_a_later_step_is_told_so) {
  const support::ScratchFolder folder;
  const std::string disk = "--mend-disk=" + (folder.path() / "disk").string() + ",every=4";
  const auto run = [&](const std::string& steps) {
    return run_stencil(2, 0, {"--size", "16", "--steps", steps, "--commit-every", "1", disk});
  };
  EXPECT_EQ(run("12").code, 0);
  const Ended shorter = run("3");
  EXPECT_EQ(shorter.code, 2);
  EXPECT_THAT(shorter.errors, testing::ContainsRegex("the restored version is of step [0-9]+, and --steps asks for 3"));
  EXPECT_EQ(run("13").code, 0);
}

TEST(Stencil, goes_back_locally_while_it_reports) {
  // Rank 1 has reported the first recovery. The process that takes it over knows of two when it reports again.
  const Ended run = run_stencil(4, 2,
                                {"--size", "16", "--steps", "12", "--commit-every", "2", "--mend-rollback",
                                 "local,strict", "--kill", "2@7", "--kill", "1@11:finish.before"});
  EXPECT_EQ(run.code, 0) << run.errors;
  EXPECT_THAT(run.errors, HasSubstr("only rank 1 goes back to version 6"));
}

TEST(Stencil, help_is_printed_once) {
  const Ended run = run_stencil(2, 0, {"--help"});
  EXPECT_EQ(run.code, 0);
  const auto first = run.output.find("Usage: stencil");
  ASSERT_NE(first, std::string::npos) << run.output;
  EXPECT_EQ(run.output.find("Usage: stencil", first + 1), std::string::npos);
  EXPECT_THAT(run.output, HasSubstr("Examples:"));
}

TEST(Stencil, draws_a_picture) {
  const support::ScratchFolder folder;
  const auto file = folder / "slice.png";
  EXPECT_EQ(run_stencil(2, 0, {"--size", "16", "--steps", "2", "--plot", file.string()}).code, 0);
  EXPECT_THAT(text_of(file), testing::StartsWith("\x89PNG"));
}

TEST(Stencil, no_steps_leave_the_initial_temperature) {
  const Ended run = run_stencil(2, 0, {"--size", "8", "--steps", "0"});
  EXPECT_EQ(run.code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("field hash"));
}

/// Returns the result of 60 steps of order `order` on `ranks` ranks in which all of `kills` must have been obeyed. The
/// evidence of every rank must agree with it.
nlohmann::json result_with(int ranks, int order, const Words& kills, const Words& more = {}) {
  const support::ScratchFolder folder;
  const auto file = folder / "result.json";
  Words line{"--nx",       "20",
             "--ny",       "18",
             "--nz",       "16",
             "--steps",    "60",
             "--order",    std::to_string(order),
             "--result",   file.string(),
             "--evidence", folder.path().string()};
  for (const std::string& kill : kills) line.insert(line.end(), {"--kill", kill});
  line.insert(line.end(), more.begin(), more.end());
  const Ended run = run_stencil(ranks, 2, line);
  EXPECT_EQ(run.code, 0) << run.errors;
  const nlohmann::json result = json_of(file);
  EXPECT_EQ(result.at("kills").size(), kills.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const nlohmann::json evidence = json_of(folder.path() / ("rank-" + std::to_string(rank) + ".json"));
    EXPECT_EQ(evidence.at("rank"), rank);
    EXPECT_EQ(evidence.at("field_hash"), result.at("field_hash"));
    EXPECT_EQ(evidence.at("norms"), result.at("norms"));
    EXPECT_EQ(evidence.at("recoveries").size(), result.at("recoveries").size());
  }
  return result;
}

class Bits : public testing::TestWithParam<int> {};

TEST_P(Bits, are_the_same_whatever_dies) {
  const nlohmann::json intact = result_with(4, GetParam(), {});
  for (const Words& kills :
       {Words{"2@20", "0@40"}, Words{"1@30:halo"}, Words{"0@30:commit.exchange", "2@30:commit.exchange"},
        Words{"1@30", "1@30:restore"}, Words{"1@30", "3@30:recovery.shrunk"}}) {
    const nlohmann::json survived = result_with(4, GetParam(), kills);
    SCOPED_TRACE(testing::PrintToString(kills));
    EXPECT_EQ(survived.at("field_hash"), intact.at("field_hash"));
    EXPECT_EQ(survived.at("norms"), intact.at("norms"));
    EXPECT_FALSE(survived.at("recoveries").empty());
  }
}

TEST_P(Bits, are_the_same_with_steps_to_repeat_since_the_last_commit) {
  const nlohmann::json intact = result_with(4, GetParam(), {});
  for (const Words& commits : {Words{"--commit-every", "7"}, Words{"--commit-every", "1000"}}) {
    const nlohmann::json survived = result_with(4, GetParam(), {"3@25"}, commits);
    EXPECT_EQ(survived.at("field_hash"), intact.at("field_hash"));
    EXPECT_EQ(survived.at("norms"), intact.at("norms"));
  }
}

TEST_P(Bits, of_the_field_are_the_same_on_any_number_of_ranks) {
  const nlohmann::json on_four = result_with(4, GetParam(), {});
  EXPECT_EQ(result_with(1, GetParam(), {}).at("field_hash"), on_four.at("field_hash"));
  EXPECT_EQ(result_with(3, GetParam(), {"1@10"}).at("field_hash"), on_four.at("field_hash"));
}

INSTANTIATE_TEST_SUITE_P(Stencil, Bits, testing::Values(2, 8),
                         [](const auto& instance) { return "of_order_" + std::to_string(instance.param); });

TEST(Stencil, tells_who_died_and_who_took_over) {
  const nlohmann::json result = result_with(4, 2, {"2@20"});
  ASSERT_EQ(result.at("recoveries").size(), 1u);
  const nlohmann::json& recovery = result.at("recoveries").at(0);
  EXPECT_THAT(recovery.at("dead"), ElementsAre(2));
  ASSERT_EQ(recovery.at("replacements").size(), 1u);
  EXPECT_EQ(recovery.at("replacements").at(0).at("rank"), 2);
  EXPECT_GE(recovery.at("replacements").at(0).at("newcomer").get<int>(), 4);
  EXPECT_GT(recovery.at("detect_ms").get<double>(), 0);
  EXPECT_GT(recovery.at("restore_ms").get<double>(), 0);
  EXPECT_EQ(result.at("kills").at(0).at("step"), 20);
}

/// The numbers at the end of a line; "-" stands for none.
std::vector<double> numbers_in(const std::string& line) {
  std::vector<double> numbers;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    char* end = nullptr;
    const double number = std::strtod(word.c_str(), &end);
    if (*end == '\0' && word.find('.') != std::string::npos) numbers.push_back(number);
  }
  return numbers;
}

/// `mend report` shows a table with a line for each recovery: the times of its phases, and their sum.
void expect_time_lines(const std::string& report, std::size_t recoveries) {
  std::istringstream lines(report);
  std::string line;
  while (std::getline(lines, line) && line.find("sum, ms") == std::string::npos) continue;
  for (std::size_t i = 0; i < recoveries; ++i) {
    ASSERT_TRUE(std::getline(lines, line)) << report;
    const std::vector<double> numbers = numbers_in(line);
    ASSERT_GE(numbers.size(), 5u) << line;
    EXPECT_GE(*std::ranges::min_element(numbers), 0) << line;
    EXPECT_NEAR(std::accumulate(numbers.begin(), numbers.end() - 1, 0.0), numbers.back(), 1e-6) << line;
  }
}

TEST(Stencil, that_loses_ranks_one_after_another_tells_times_that_are_not_negative_and_add_up) {
  const support::ScratchFolder folder;
  const auto file = folder / "result.json";
  // Rank 1 dies in the recovery from the death of rank 3, and rank 2 right after that.
  const Ended run = run_stencil(4, 4,
                                {"--size", "16", "--steps", "30", "--mend-redundancy", "replicas:2", "--result",
                                 file.string(), "--kill", "3@20", "--kill", "1@20:recovery", "--kill", "2@23"});
  ASSERT_EQ(run.code, 0) << run.errors;
  const nlohmann::json result = json_of(file);
  std::vector<double> whole;
  for (const auto& recovery : result.at("recoveries")) {
    whole.push_back(0);
    for (const char* phase : {"interrupt_ms", "agree_ms", "rebuild_ms", "restore_ms"}) {
      EXPECT_GE(recovery.at(phase).get<double>(), 0) << recovery;
      whole.back() += recovery.at(phase).get<double>();
    }
  }
  ASSERT_GE(whole.size(), 2u);
  EXPECT_GT(result.at("recoveries").back().at("detect_ms").get<double>(), 0) << "nothing had begun before the kill";
  MendProcess report({"report", file.string()});
  ASSERT_EQ(report.wait(), 0) << report.errors();
  expect_time_lines(report.output(), whole.size());

  // What the job says at its end is of the same time lines.
  std::smatch said;
  const std::regex line(
      "; ([0-9.]+) ms until the data was back .median; ([0-9.]+) at most.: interrupt ([0-9.]+), "
      "agree ([0-9.]+), rebuild ([0-9.]+), restore ([0-9.]+) ms");
  ASSERT_TRUE(std::regex_search(run.errors, said, line)) << run.errors;
  const auto number = [&](std::size_t i) { return std::stod(said[i]); };
  std::ranges::sort(whole);
  EXPECT_NEAR(number(1), whole[whole.size() / 2], 0.051);
  EXPECT_NEAR(number(2), whole.back(), 0.051);
  EXPECT_NEAR(number(3) + number(4) + number(5) + number(6), number(1), 1e-6);
}

TEST(Stencil, goes_on_from_disk_on_any_number_of_ranks) {
  const auto hash_of = [](int ranks, const std::string& steps, const Words& more, bool goes_on = false) {
    const support::ScratchFolder folder;
    const auto file = folder / "result.json";
    Words line{"--size", "16", "--steps", steps, "--result", file.string()};
    line.insert(line.end(), more.begin(), more.end());
    const Ended run = run_stencil(ranks, 0, line);
    EXPECT_EQ(run.code, 0) << run.errors;
    EXPECT_EQ(run.errors.find("continues from version") != std::string::npos, goes_on) << run.errors;
    return json_of(file).at("field_hash");
  };
  const support::ScratchFolder folder;
  const Words disk{"--mend-disk=" + (folder / "checkpoints").string() + ",every=4"};
  hash_of(4, "12", disk);
  EXPECT_EQ(hash_of(3, "24", disk, true), hash_of(2, "24", {}));
  EXPECT_EQ(hash_of(6, "36", disk, true), hash_of(2, "36", {}));
}

}  // namespace
