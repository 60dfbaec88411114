// --mend-world session: MPI_COMM_WORLD is session.comm() in the body.

#include "tests/framework/local_rollback/rolled_back_job.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace {

using testing::HasSubstr;
using testing::SizeIs;

class InTheWorld : public testing::TestWithParam<const char*> {
 protected:
  static support::JobEnd run(const std::string& deaths, int spares, std::vector<std::string> options) {
    options.insert(options.end(), {"--mend-commit-every", "4"});
    return play(fmt::format("rolls_back_{}:{}", GetParam(), deaths), 4, spares, options);
  }
  static std::vector<std::string> in_the_session() {
    std::vector<std::string> results = results_of(run("", 0, {"--mend-rollback", "local"}));
    EXPECT_THAT(results, SizeIs(4));
    return results;
  }
};

INSTANTIATE_TEST_SUITE_P(World, InTheWorld,
                         testing::Values("locally", "from_any", "with_requests", "with_begun_collectives",
                                         "with_neighbours"));

TEST_P(InTheWorld, all_is_as_in_the_session) {
  if (GetParam() == std::string("with_neighbours"))
    GTEST_SKIP() << "the library's own persistent neighbourhood collectives crash";
  const auto expected = in_the_session();
  EXPECT_EQ(results_of(run("in_world:1@6", 1, {"--mend-world", "session"})), expected);
  EXPECT_EQ(results_of(run("in_world:0@6,2@9", 1, {"--mend-world", "session", "--mend-on-failure", "spare,spawn"})),
            expected);
}

TEST_P(InTheWorld, all_is_as_in_the_session_when_one_goes_back) {
  const auto end = run("in_world:1@6", 1, {"--mend-world", "session", "--mend-rollback", "local"});
  EXPECT_EQ(results_of(end), in_the_session());
  EXPECT_THAT(end.errors, HasSubstr("only rank 1 goes back"));
}

TEST(World, is_the_sessions_after_a_recovery_in_place) {
  const auto end = play("asks_the_world", 3, 1, {"--mend-world", "session"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), testing::ElementsAre("rank 0: is 0 of 3, named of my program, in epoch 1",
                                              "rank 1: is 1 of 3, named of my program, in epoch 1",
                                              "rank 2: is 2 of 3, named of my program, in epoch 1"));
}

TEST(World, is_the_sessions_in_a_thread_of_the_program_too) {
  const auto end = play("has_a_thread_in_the_world", 2, 1, {"--mend-world", "session"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), testing::ElementsAre("rank 0: there are 2", "rank 1: there are 2"));
}

TEST(World, is_refused_in_a_thread_of_the_program_too) {
  const auto end = play("has_a_thread_in_the_world", 2, 1);
  EXPECT_EQ(end.exit_code, 2) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("an MPI call used MPI_COMM_WORLD, which also contains spares"));
}

TEST(World, has_the_attributes_of_mpi_and_those_of_the_session) {
  for (const char* const rollback : {"all", "local"}) {
    const auto end =
        play("asks_the_world_for_attributes", 2, 1, {"--mend-world", "session", "--mend-rollback", rollback});
    EXPECT_EQ(end.exit_code, 0) << end.errors;
    EXPECT_THAT(said(end), SizeIs(2)) << end.errors;
  }
}

}  // namespace
