// miniFE as its users run it: launched by `mend run`, and checked by its exit code, its output and its files.

#include "tests/support/scratch_folder.hpp"
#include "tests/support/mend_process.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using Words = std::vector<std::string>;

struct Ended {
  int code = 0;
  std::string output;
  std::string errors;
};

Ended run_minife(int ranks, int spares, const Words& arguments) {
  Words line{"run", "-n", std::to_string(ranks), "--spares", std::to_string(spares), "--", MEND_MINIFE};
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
  const Ended run = run_minife(2, 0, arguments);
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.output, IsEmpty());
  EXPECT_THAT(run.errors, HasSubstr(about));
  EXPECT_EQ(std::ranges::count(run.errors, '\n'), 1) << run.errors;
}

INSTANTIATE_TEST_SUITE_P(MiniFe, WrongArguments,
                         testing::Values(std::pair{Words{"--nx", "0"}, "--nx"}, std::pair{Words{"--nz", "-4"}, "--nz"},
                                         std::pair{Words{"--nx", "many"}, "--nx"},
                                         std::pair{Words{"--dt", "0"}, "--dt"}, std::pair{Words{"--dt", "nan"}, "--dt"},
                                         std::pair{Words{"--tolerance", "0"}, "--tolerance"},
                                         std::pair{Words{"--max-iterations", "0"}, "--max-iterations"},
                                         std::pair{Words{"--steps", "-1"}, "--steps"},
                                         std::pair{Words{"--kill", "2:halo"}, "--kill"},
                                         std::pair{Words{"--steps", "20", "--kill", "1@21"}, "step 20 is the last"},
                                         std::pair{Words{"--nx", "50000", "--nz", "4", "--plot", "plane.png"},
                                                   "a slice of 2500100001 values is too large"}));

TEST(MiniFe, has_the_same_answer_when_one_rank_or_its_cluster_goes_back) {
  const support::ScratchFolder folder;
  const auto answer = [&](const std::string& name, int spares, const Words& more) {
    Words arguments{"--nx", "6", "--steps", "6", "--commit-every", "2", "--result", (folder.path() / name).string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended run = run_minife(4, spares, arguments);
    EXPECT_EQ(run.code, 0) << run.errors;
    if (spares > 0) {
      EXPECT_THAT(run.errors, HasSubstr(more.size() > 4 ? "only ranks 2, 3 go back to version"
                                                        : "only rank 2 goes back to version"));
    }
    return json_of(folder.path() / name).at("field_hash");
  };
  const auto undisturbed = answer("undisturbed.json", 0, {});
  EXPECT_EQ(answer("local.json", 1, {"--mend-rollback", "local", "--kill", "2@3"}), undisturbed);
  EXPECT_EQ(answer("clusters.json", 1, {"--mend-rollback", "local", "--kill", "2@3", "--mend-clusters", "2"}),
            undisturbed);
}

TEST(MiniFe, counts_once_what_is_done_again) {
  const support::ScratchFolder folder;
  const auto operations = [&](const std::string& name, int spares, const Words& more) {
    const auto file = folder.path() / name;
    Words arguments{"--nx", "6", "--steps", "5", "--commit-every", "100", "--yaml", file.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended run = run_minife(2, spares, arguments);
    EXPECT_EQ(run.code, 0) << run.errors;
    std::istringstream lines(text_of(file));
    std::vector<std::string> counts;
    for (std::string line; std::getline(lines, line);)
      if (line.find("Flops:") != std::string::npos) counts.push_back(line);
    return counts;
  };
  const auto undisturbed = operations("undisturbed.yaml", 0, {});
  EXPECT_THAT(undisturbed, testing::Not(IsEmpty()));
  EXPECT_EQ(operations("disturbed.yaml", 1, {"--kill", "1@4"}), undisturbed);
}

TEST(MiniFe, more_ranks_than_can_be_cut_are_one_sentence_and_exit_code_2) {
  const Ended run = run_minife(4, 0, {"--nx", "1", "--ny", "1", "--nz", "1", "--steps", "1"});
  EXPECT_EQ(run.code, 0) << "eight nodes are enough for four ranks: " << run.errors;
  const Ended too_many = run_minife(9, 0, {"--nx", "1", "--steps", "1"});
  EXPECT_EQ(too_many.code, 2);
  EXPECT_THAT(too_many.errors, HasSubstr("cannot be cut for 9 ranks"));
  EXPECT_EQ(std::ranges::count(too_many.errors, '\n'), 1) << too_many.errors;
}

TEST(MiniFe, says_what_to_do_when_the_solver_does_not_converge) {
  const Ended run = run_minife(2, 0, {"--nx", "8", "--max-iterations", "2"});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.errors, HasSubstr("allow more with --max-iterations"));
}

TEST(MiniFe, reports_sizes_iterations_and_rates) {
  const support::ScratchFolder folder;
  const auto file = folder.path() / "report.yaml";
  const Ended run = run_minife(2, 0, {"--nx", "6", "--ny", "5", "--nz", "4", "--steps", "2", "--yaml", file.string()});
  EXPECT_EQ(run.code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("6 x 5 x 4 elements, 210 rows"));
  // A row has an entry for each node at most one away on each axis: (3n + 1) couplings along an axis of n elements.
  EXPECT_THAT(text_of(file),
              AllOf(HasSubstr("nx: 6\n"), HasSubstr("Global Nrows: 210\n"),
                    HasSubstr("Global NNZ: " + std::to_string(19 * 16 * 13) + "\n"), HasSubstr("MATVEC Mflops: "),
                    HasSubstr("Total CG Mflops: "), HasSubstr("Steps: 2\n")));
}

TEST(MiniFe, draws_a_picture) {
  const support::ScratchFolder folder;
  const auto file = folder.path() / "slice.png";
  EXPECT_EQ(run_minife(2, 0, {"--nx", "8", "--steps", "2", "--plot", file.string()}).code, 0);
  EXPECT_THAT(text_of(file), testing::StartsWith("\x89PNG"));
}

/// Returns the result file of a run of `arguments` in which `kills` must have been obeyed.
nlohmann::json result_with(const support::ScratchFolder& folder, const Words& arguments, const Words& kills = {}) {
  const auto file = folder.path() / "result.json";
  Words line{"--nx", "8", "--steps", "6", "--result", file.string()};
  line.insert(line.end(), arguments.begin(), arguments.end());
  for (const std::string& kill : kills) line.insert(line.end(), {"--kill", kill});
  const Ended run = run_minife(4, 2, line);
  EXPECT_EQ(run.code, 0) << run.errors;
  const nlohmann::json result = json_of(file);
  EXPECT_EQ(result.at("kills").size(), kills.size());
  return result;
}

TEST(MiniFe, agreeing_in_every_iteration_changes_nothing_in_the_answer_whether_or_not_a_rank_dies_in_the_solver) {
  const support::ScratchFolder folder;
  const nlohmann::json plain = result_with(folder, {});
  for (const Words& kills : {Words{}, Words{"1@3:solve"}, Words{"0@3:halo"}}) {
    const nlohmann::json agreeing = result_with(folder, {"--agree"}, kills);
    EXPECT_EQ(agreeing.at("field_hash"), plain.at("field_hash"));
    EXPECT_EQ(agreeing.at("norms"), plain.at("norms"));
  }
}

TEST(MiniFe, a_death_while_the_matrix_is_rebuilt_after_a_death_costs_nothing_but_time) {
  const support::ScratchFolder folder;
  const nlohmann::json plain = result_with(folder, {});
  const nlohmann::json struck = result_with(folder, {}, {"2@3:solve", "0@3:assembly"});
  EXPECT_EQ(struck.at("field_hash"), plain.at("field_hash"));
  EXPECT_EQ(struck.at("norms"), plain.at("norms"));
}

TEST(MiniFe, goes_on_from_disk_with_the_same_bits_and_on_other_ranks_within_the_bound) {
  const auto result_of = [](int ranks, const std::string& steps, const Words& more, bool goes_on = false) {
    const support::ScratchFolder folder;
    const auto file = folder.path() / "result.json";
    Words line{"--nx", "8", "--steps", steps, "--result", file.string()};
    line.insert(line.end(), more.begin(), more.end());
    const Ended run = run_minife(ranks, 0, line);
    EXPECT_EQ(run.code, 0) << run.errors;
    EXPECT_EQ(run.errors.find("continues from version") != std::string::npos, goes_on) << run.errors;
    return json_of(file);
  };
  const support::ScratchFolder folder;
  const Words disk{"--mend-disk=" + (folder.path() / "checkpoints").string() + ",every=2"};
  const nlohmann::json plain = result_of(4, "8", {});
  result_of(4, "4", disk);
  const nlohmann::json later = result_of(4, "8", disk, true);
  EXPECT_EQ(later.at("field_hash"), plain.at("field_hash"));
  EXPECT_EQ(later.at("norms"), plain.at("norms"));
  result_of(3, "12", disk, true);  // sums are rounded differently here; the run compares itself with the exact solution
}

}  // namespace
