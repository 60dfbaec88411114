// Kills both mini-apps at every place where a death matters. The survivors must end with the result of the run without
// deaths, to the last bit.
//
// All cases are tried with the stencil, and with miniFE every third, and all deaths of a newcomer, which
// assembles its matrix again.
// MEND_TEST_LONG=1 tries all with both, 20 times, and all pairs of a rank and another process instead of some.

#include "tests/faults/app.hpp"
#include "tests/faults/cases.hpp"
#include "tests/support/long_tests.hpp"

#include <gmock/gmock.h>

namespace {

using faults::App;
using faults::Case;
using faults::Remains;

struct Run {
  const App* app;
  Case what;
};

void PrintTo(const Run& run, std::ostream* out) { *out << faults::command_line(*run.app, run.what.kills); }

int repetitions() { return support::long_tests() ? 20 : 1; }

class Recovered : public testing::TestWithParam<Run> {};

TEST_P(Recovered, and_every_rank_has_the_undisturbed_result) {
  const auto& [app, what] = GetParam();
  for (int i = 0; i < repetitions() && !HasFailure(); ++i) {
    const Remains remains = faults::run(*app, what.kills);
    faults::expect_all_died(remains, what.kills);
    faults::expect_undisturbed_result(*app, remains);
    if (HasFailure()) {
      std::cerr << "--- output\n" << remains.end.output << "--- errors\n" << remains.end.errors << "---\n";
    }
  }
}

/// Each `stride`-th of the cases, or all in the long tests.
std::vector<Run> runs(const App& app, const std::vector<Case>& cases, std::size_t stride = 1) {
  std::vector<Run> chosen;
  for (std::size_t i = 0; i < cases.size(); i += support::long_tests() ? 1 : stride) chosen.push_back({&app, cases[i]});
  return chosen;
}

/// Has no common factor with the number of places, so that each rank dies at some.
constexpr std::size_t of_minife = 3;

std::string name_of(const testing::TestParamInfo<Run>& info) { return info.param.what.name; }

const std::vector<std::string> stencil_places{"halo"};
const std::vector<std::string> minife_places{"halo", "solve"};
const std::vector<std::string> minife_newcomer_places{"assembly", "halo", "solve"};

using faults::minife;
using faults::stencil;
using testing::ValuesIn;

INSTANTIATE_TEST_SUITE_P(StencilOneDies, Recovered, ValuesIn(runs(stencil(), faults::one_dies(stencil_places))),
                         name_of);
INSTANTIATE_TEST_SUITE_P(MinifeOneDies, Recovered, ValuesIn(runs(minife(), faults::one_dies(minife_places), of_minife)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(StencilTwoDieTogether, Recovered,
                         ValuesIn(runs(stencil(), faults::two_die_together(stencil_places))), name_of);
INSTANTIATE_TEST_SUITE_P(MinifeTwoDieTogether, Recovered,
                         ValuesIn(runs(minife(), faults::two_die_together(minife_places), of_minife)), name_of);
INSTANTIATE_TEST_SUITE_P(StencilSurvivorDiesInRecovery, Recovered,
                         ValuesIn(runs(stencil(), faults::a_survivor_dies_in_recovery())), name_of);
INSTANTIATE_TEST_SUITE_P(MinifeSurvivorDiesInRecovery, Recovered,
                         ValuesIn(runs(minife(), faults::a_survivor_dies_in_recovery(), of_minife)), name_of);
INSTANTIATE_TEST_SUITE_P(StencilNewcomerDies, Recovered,
                         ValuesIn(runs(stencil(), faults::the_newcomer_dies(stencil_places))), name_of);
INSTANTIATE_TEST_SUITE_P(MinifeNewcomerDies, Recovered,
                         ValuesIn(runs(minife(), faults::the_newcomer_dies(minife_newcomer_places))), name_of);
INSTANTIATE_TEST_SUITE_P(StencilSpareDies, Recovered, ValuesIn(runs(stencil(), faults::a_spare_dies())), name_of);
INSTANTIATE_TEST_SUITE_P(MinifeSpareDies, Recovered, ValuesIn(runs(minife(), faults::a_spare_dies(), of_minife)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(StencilOneAfterAnother, Recovered, ValuesIn(runs(stencil(), faults::one_after_another())),
                         name_of);
INSTANTIATE_TEST_SUITE_P(MinifeOneAfterAnother, Recovered,
                         ValuesIn(runs(minife(), faults::one_after_another(), of_minife)), name_of);

INSTANTIATE_TEST_SUITE_P(StencilHangs, Recovered, ValuesIn(runs(stencil(), faults::some_hang(stencil_places))),
                         name_of);
INSTANTIATE_TEST_SUITE_P(MinifeHangs, Recovered, ValuesIn(runs(minife(), faults::some_hang(minife_places), of_minife)),
                         name_of);

class BeyondRepair : public testing::TestWithParam<const App*> {};

TEST_P(BeyondRepair, a_rank_and_its_holder_that_die_together_are_named) {
  // The holder dies before it can send the data. At a place of its own work it might be interrupted before.
  const std::vector<std::string> kills{"1@5", "p2@0:recovery.begin"};
  const Remains remains = faults::run(*GetParam(), kills);
  faults::expect_all_died(remains, kills);
  faults::expect_clear_end(remains, "data of rank 1 at version 2 is lost");
}

TEST_P(BeyondRepair, more_deaths_than_spares_are_a_clear_end_that_names_the_rank) {
  const std::vector<std::string> kills{"0@3", "2@5", "1@8"};
  const Remains remains = faults::run(*GetParam(), kills);
  faults::expect_all_died(remains, kills);
  faults::expect_clear_end(remains, "rank 1 .*no spare is left");
}

TEST_P(BeyondRepair, without_spares_the_first_death_is_the_end) {
  const std::vector<std::string> kills{"3@5"};
  const Remains remains = faults::run(*GetParam(), kills, 0);
  faults::expect_all_died(remains, kills);
  faults::expect_clear_end(remains, "rank 3 .*no spare is left");
}

TEST_P(BeyondRepair, a_death_before_MPI_runs_ends_the_job_with_a_sentence) {
  const std::vector<std::string> kills{"p1@0:init.before"};
  const Remains remains = faults::run(*GetParam(), kills, faults::spares, {"--start-tries", "1"});
  faults::expect_all_died(remains, kills);
  EXPECT_EQ(remains.end.exit_code, 1);
  EXPECT_THAT(support::complaints(remains.end), testing::ElementsAre(testing::HasSubstr("MPI_Init")));
}

TEST_P(BeyondRepair, what_stops_after_the_agreed_end_is_killed_and_the_result_stands) {
  for (const char* place : {"finish.after", "finalize.before"}) {
    const std::vector<std::string> kills{std::string("hang 1@0:") + place};
    const Remains remains = faults::run(*GetParam(), kills, faults::spares, {"--end-limit", "1"});
    EXPECT_EQ(remains.end.exit_code, 0) << place << remains.end.errors;
    EXPECT_THAT(remains.end.errors, testing::HasSubstr("a process had not ended 1 s after the end of the job"));
  }
}

std::string app_name(const testing::TestParamInfo<const App*>& info) { return info.param->name; }
INSTANTIATE_TEST_SUITE_P(Apps, BeyondRepair, testing::Values(&stencil(), &minife()), app_name);

/// Pairs may be partners, so data may be lost. That must be reported; no job may hang, and no wrong result may be
/// reported as right.
class Pairs : public testing::TestWithParam<Run> {};

TEST_P(Pairs, recover_or_say_what_is_lost) {
  const auto& [app, what] = GetParam();
  for (int i = 0; i < repetitions() && !HasFailure(); ++i) {
    const Remains remains = faults::run(*app, what.kills);
    faults::expect_all_died(remains, what.kills);
    if (remains.end.exit_code == 3) {
      faults::expect_clear_end(remains, "data of rank [0-3] at version [0-9]+ is lost");
    } else {
      faults::expect_undisturbed_result(*app, remains);
    }
    if (HasFailure()) std::cerr << remains.end.output << remains.end.errors;
  }
}

/// Some of the pairs: the stride has no common factor with their order.
std::vector<Run> pairs(const App& app) { return runs(app, faults::all_pairs(), 23); }
INSTANTIATE_TEST_SUITE_P(Stencil, Pairs, ValuesIn(pairs(stencil())), name_of);
INSTANTIATE_TEST_SUITE_P(Minife, Pairs, ValuesIn(pairs(minife())), name_of);

}  // namespace
