// A table of wrong uses: the command, the exit code of the job, the time that it takes, and the sentence of one rank.

#include "tests/support/subject_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ostream>

namespace {

using support::Job;

constexpr std::chrono::seconds longest{15};

struct WrongUse {
  std::vector<std::string> typed;  ///< after `mend`
  int exit_code;
  std::string sentence;  ///< a regular expression
  std::map<std::string, std::string> environment{};
};

std::string shortened(std::string line) {
  for (auto at = line.find(MEND_SUBJECT); at != std::string::npos; at = line.find(MEND_SUBJECT))
    line.replace(at, std::string(MEND_SUBJECT).size(), "program");
  return line;
}

std::string in_one_line(const WrongUse& use) {
  std::string line;
  for (const auto& [name, value] : use.environment) line += fmt::format("{}={} ", name, value);
  line += "mend";
  for (const std::string& word : use.typed) line += " " + word;
  return shortened(line);
}

struct Group {
  std::string name;
  std::vector<WrongUse> uses;
};
void PrintTo(const Group& group, std::ostream* out) { *out << group.name; }

class WrongUses : public testing::TestWithParam<Group> {};

TEST_P(WrongUses, end_soon_with_one_sentence_of_one_rank) {
  for (const WrongUse& use : GetParam().uses) {
    Job job;
    job.command = {MEND_COMMAND};
    std::ranges::copy(use.typed, std::back_inserter(job.command));
    job.environment = use.environment;
    job.deadline = 2 * longest;
    const auto end = support::run_job(job);
    const auto sentences = support::complaints(end);
    const std::string typed = in_one_line(use);
    fmt::print("{:>3} | {:>5.2f} s | {} | {}\n", end.exit_code, end.took.count(), typed,
               sentences.empty() ? "" : sentences.front());
    EXPECT_EQ(end.exit_code, use.exit_code) << typed;
    EXPECT_THAT(sentences, testing::ElementsAre(testing::ContainsRegex(use.sentence))) << typed;
    EXPECT_LT(end.took, longest) << typed;
  }
}

std::vector<std::string> run(int ranks, int spares, const std::string& scenario,
                             const std::vector<std::string>& options = {}) {
  std::vector<std::string> typed{"run",        "-n",    std::to_string(ranks), "--spares", std::to_string(spares), "--",
                                 MEND_SUBJECT, scenario};
  std::ranges::copy(options, std::back_inserter(typed));
  return typed;
}

std::vector<WrongUse> of_the_command() {
  return {
      {{}, 2, "mend: "},
      {{"rum"}, 2, "mend: .*rum"},
      {{"run", MEND_SUBJECT}, 2, "mend: .*ranks"},
      {{"script", "slurm", "--nodes", "4", "-n", "2"},
       2,
       "--nodes is not an option of mend script: mend script --help"},
      {{"doctor", "all"}, 2, "all is not an argument of mend doctor: mend doctor --help"},
      {{"run", "-n", "2"}, 2, "no program to run"},
      {{"run", "-n", "two", MEND_SUBJECT}, 2, "two"},
      {{"run", "-n", "0", MEND_SUBJECT}, 2, "ranks"},
      {{"run", "-n", "2", "--spares", "-1", MEND_SUBJECT}, 2, "spares"},
      {{"run", "-n", "3", "--spares", "2", "--", MEND_SUBJECT, "--mend-spares", "1"},
       2,
       "the program's --mend-spares 1 contradicts --spares 2 of mend run: give the number to mend run alone"},
      {{"run", "-n", "2", "--spars", "1", MEND_SUBJECT}, 2, "unknown option --spars"},
      {{"run", "-n", "2", "--", "/nonexistent/program"}, 2, "is not a program that can be run"},
      {{"run", "-n", "2", "--", "/tmp"}, 2, "is not a program that can be run"},
      {{"run", "-n", "2", "--", MEND_SUBJECT}, 2, "MEND_MPIRUN.*cannot be run", {{"MEND_MPIRUN", "/nonexistent"}}},
  };
}

std::vector<WrongUse> of_options() {
  return {
      {run(3, 0, "nobody_dies", {"--mend-spares", "many"}), 2, "--mend-spares.*many"},
      {run(3, 0, "nobody_dies", {"--mend-sparse", "1"}), 2, "'--mend-sparse' is not an option"},
      {run(3, 0, "nobody_dies", {"--MEND-LOG", "debug"}), 2, "'--MEND-LOG' is not an option of mend"},
      {run(3, 0, "nobody_dies", {"--mend_log=debug"}), 2, "'--mend_log.*' is not an option of mend"},
      {run(3, 0, "nobody_dies", {"--mend"}), 0, "'--mend' is not an option of mend, and is left to the program"},
      {run(3, 0, "nobody_dies", {"--mend-spares", "3"}), 2, "--mend-spares 3 contradicts the launch without spares"},
      {run(3, 0, "nobody_dies", {"--mend-log", "loud"}), 2, "--mend-log.*loud"},
      {run(3, 0, "nobody_dies", {"--mend-disk", "--steps", "5"}), 2, "--mend-disk: a value is missing: --steps"},
      {run(3, 0, "nobody_dies", {"--mend-redundancy", "mirror"}), 2, "'mirror' is not a redundancy"},
      {run(3, 0, "nobody_dies", {"--mend-redundancy", "rs:4+2"}), 2, "rs:4.2 needs 6 ranks or more"},
      {run(3, 0, "nobody_dies", {"--mend-versions", "1"}), 2, "one version is kept while the next is made"},
      {run(3, 0, "nobody_dies", {"--mend-on-failure", "pray"}), 2, "'pray' is not a policy"},
      {run(3, 0, "nobody_dies", {"--mend-timeout", "50"}), 2, "would take the living for dead"},
      {run(3, 0, "nobody_dies", {"--mend-detector", "runtime", "--mend-on-failure", "spawn"}), 2, "leave spawn out"},
      {run(3, 0, "nobody_dies", {"--mend-config", "/nonexistent.toml"}), 2, "/nonexistent.toml"},
      {run(3, 0, "nobody_dies"), 2, "many", {{"MEND_VERSIONS", "many"}}},
      {run(3, 0, "nobody_dies"),
       0,
       "MEND_SPARSE is not a variable of mend .* is MEND_SPARES meant",
       {{"MEND_SPARSE", "1"}}},
  };
}

std::vector<WrongUse> of_porting() {
  const std::string child = "process [0-9]+, which the program has forked, ";
  return {
      {run(3, 1, "finalizes_MPI"), 2, "rank [0-2]: MPI_Finalize was called in the body"},
      {run(3, 0, "finalizes_MPI_on_one_rank"), 2, "rank 1: MPI_Finalize was called in the body"},
      {run(3, 1, "exits_with_success"), 2, "rank [0-2]: exit.0. was called in the body"},
      {run(3, 1, "exits_on_one_rank"), 2, "rank 1: exit.3. was called in the body"},
      {run(3, 1, "closes_all_descriptors"), 2, "process [0-3] has closed descriptors that belong to mend"},
      {run(3, 1, "jumps_out_of_the_body"), 2, "exit.0. was called after the body had been left by longjmp"},
      {run(3, 0, "frees_the_communicator"), 2, "rank [0-2]: MPI_Comm_free was called for session.comm"},
      {run(3, 1, "frees_the_communicator_in_a_destructor"), 2, "rank 1: MPI_Comm_free was called for session.comm"},
      {run(3, 0, "disconnects_the_communicator"), 2, "rank 1: MPI_Comm_disconnect was called for session.comm"},
      {run(3, 1, "makes_errors_fatal"), 2, "rank 1: MPI_ERRORS_ARE_FATAL was set for session.comm"},
      {run(3, 1, "makes_errors_of_a_duplicate_fatal"), 2, "rank [0-2]: MPI_ERRORS_ARE_FATAL was set for session.comm"},
      {run(3, 1, "meets_in_the_world"), 2, "rank [0-2]: an MPI call used MPI_COMM_WORLD.*use session.comm"},
      {run(3, 1, "sends_in_the_world"), 2, "rank 1: an MPI call used MPI_COMM_WORLD"},
      {run(3, 1, "wants_codes_of_the_world"), 2, "rank [0-2]: an MPI call used MPI_COMM_WORLD"},
      {run(3, 1, "wants_errors_of_the_world_to_be_fatal"), 2, "rank [0-2]: an MPI call used MPI_COMM_WORLD"},
      {run(3, 0, "wants_codes_of_the_world_after_a_death", {"--mend-on-failure", "shrink"}), 2,
       "an MPI call used MPI_COMM_WORLD"},
      {run(3, 1, "sends_in_partitions"), 2, "MPI_Psend_init needs MPI_COMM_WORLD inside of the MPI library"},
      {run(3, 1, "splits_the_world"), 2, "rank [0-2]: an MPI call used MPI_COMM_WORLD"},
      {run(3, 1, "opens_a_file_in_the_world"), 2, "rank [0-2]: an MPI call used MPI_COMM_WORLD"},
      {run(3, 1, "makes_a_window_in_the_world"), 2, "rank [0-2]: an MPI call used MPI_COMM_WORLD"},
      {run(3, 1, "allocates_a_window_in_the_world"), 2, "rank [0-2]: an MPI call used MPI_COMM_WORLD"},
      {run(3, 1, "allocates_a_shared_window_in_the_world"), 2, "rank [0-2]: an MPI call used MPI_COMM_WORLD"},
      {run(3, 1, "makes_a_dynamic_window_in_the_world"), 2, "rank [0-2]: an MPI call used MPI_COMM_WORLD"},
      {run(3, 1, "starts_a_process_in_the_world"), 2, "rank [0-2]: an MPI call used MPI_COMM_WORLD"},
      {run(3, 1, "asks_for_the_size_of_the_world"), 0,
       "MPI_Comm_size was asked about MPI_COMM_WORLD, which also contains spares"},
      {run(3, 0, "meets_in_no_communicator"), 1, "an MPI call failed: MPI_ERR_COMM.*session.comm.. is another"},
      {run(3, 1, "meets_in_no_communicator"), 1, "an MPI call failed: MPI_ERR_COMM.*session.comm.. is another"},
      {run(3, 0, "makes_a_type_of_nothing"), 1, "an MPI call failed: MPI_ERR_"},
      {run(3, 1, "makes_a_type_of_nothing"), 1, "an MPI call failed: MPI_ERR_"},
      {run(3, 1, "receives_from_nobody_in_itself"), 1, "an MPI call failed: MPI_ERR_RANK"},
      {run(3, 0, "initialises_MPI_again"), 2, "MPI_Init was called in the body"},
      {run(3, 1, "initialises_MPI_again"), 2, "MPI_Init was called in the body"},
      {run(3, 0, "uses_the_world_after_a_death", {"--mend-on-failure", "shrink"}), 2,
       "an MPI call used MPI_COMM_WORLD, which also contains spares and dead processes"},
      {run(4, 0, "keeps_its_communicator_over_a_repair", {"--mend-on-failure", "shrink"}), 2,
       "an MPI call used a communicator of before a recovery: ask session.comm.. for the present one"},
      {run(4, 1, "keeps_its_communicator_over_a_repair"), 2,
       "an MPI call used a communicator of before a recovery: ask session.comm.. for the present one"},
      {run(3, 1, "keeps_persistent_requests_over_a_repair"), 2,
       "MPI_Start was called for a request of before a recovery: make persistent requests again"},
      {run(3, 1, "keeps_a_persistent_barrier_over_a_repair"), 2,
       "MPI_Start was called for a request of before a recovery: make persistent requests again"},
      {run(3, 1, "makes_a_communicator_of_the_world_as_a_set"), 2,
       "MPI_Comm_create_from_group makes a communicator that cannot be interrupted when a process dies"},
      {run(3, 0, "runs_inside_a_run"), 0, "mend::run is called once in a process"},
      {run(2, 0, "inside_own_mpi_of_too_low_a_level"), 2, "mend needs MPI_THREAD_FUNNELED"},
      {run(3, 1, "has_a_child_that_goes_on"), 0, child + "called MPI: it is no rank, and ends: after fork.., end the"},
      {run(3, 1, "has_a_child_that_throws"), 0,
       child + "left the body by an exception .no such program.: it is no rank"},
      {run(3, 1, "has_a_child_that_commits"), 0, child + "called mend or MPI: it is no rank"},
      {run(3, 1, "has_a_child_that_finalizes_MPI"), 0, child + "called MPI: it is no rank"},
      {run(3, 1, "has_a_child_that_aborts"), 0, child + "called MPI: it is no rank"},
      {run(3, 1, "has_a_child_that_returns"), 0, child + "left the body: it is no rank"},
      {run(3, 1, "process_1_refuses"), 2, "process 1 finds no paper"},
  };
}

/// The part of the sentence for ranks that are at different operations.
std::string in_order(const std::string& where) { return where + ": every rank must come to these in the same order$"; }

std::vector<WrongUse> of_order() {
  return {
      {run(3, 1, "commit_against_agree"), 2, in_order("ranks 1, 2 are in commit.., rank 0 is in agree..")},
      {run(3, 1, "commit_against_restore"), 2, in_order("rank 0 is in commit.., ranks 1, 2 are in restore..")},
      {run(3, 0, "restore_against_agree"), 2, in_order("rank 0 is in restore.., ranks 1, 2 are in agree..")},
      {run(3, 0, "finish_against_commit"), 2, in_order("ranks 1, 2 are in commit.., rank 0 is at the end of the body")},
      {run(3, 0, "one_rank_returns"), 2, in_order("ranks 0, 2 are in commit.., rank 1 is at the end of the body")},
      {run(3, 0, "derives_with_nonsense"), 2, "a Cartesian topology needs dimensions"},
      {run(4, 1, "repairs_in_a_callback"), 2, "was called by a callback of on_repair"},
      {run(3, 1, "repairs_inside_a_transaction"), 2, "was called inside a transaction"},
  };
}

std::vector<WrongUse> of_data() {
  return {
      {run(3, 0, "one_rank_misuses"), 2, "rank 1: a protected member needs a name"},
      {run(3, 0, "restores_a_version_that_is_not_kept"), 2, "rank [0-2]: version 77 cannot be restored"},
      {run(3, 0, "restores_twice_on_one_rank"), 2,
       "before the first commit, restore.. was called by ranks 0, 2 1 time, by rank 1 2 times: every rank must"},
      {run(3, 0, "restores_on_one_rank_alone"), 2,
       "before the first commit, restore.. was called by ranks 0, 2 0 times, by rank 1 1 time: every rank must"},
      {run(3, 0, "restores_different_versions"), 2, "rank [0-2]: .*version"},
      {run(3, 0, "restores_from_a_rank_that_is_not_there"), 2, "there is no rank 77 to restore from"},
      {run(3, 0, "asks_for_a_hole"), 2, "rank 1: there is no rank -1 among 3"},
      {run(3, 1, "protects_another_shape_after_the_failure"), 2, "rank [0-2]: "},
      {run(3, 0, "protects_two_objects_under_one_name"), 2, "another object is protected as 'x' already"},
      {run(3, 1, "protects_after_restore"), 2,
       "member 'sum' was protected after restore.., so it does not have its data of version 1"},
      {run(3, 1, "rank_1_protects_no_more_after_the_failure"), 2,
       "^mend.[0-9]. [0-9:.]+: rank 1: version 5 has data of 'late', which this rank has not protected since"},
      {run(3, 0, "protects_too_large_a_redundancy"), 2, "needs 10 ranks or more"},
  };
}

std::vector<WrongUse> of_exceptions() {
  return {
      {run(3, 1, "one_rank_throws"), 1, "rank 2: no more ink"},
      {run(3, 1, "all_ranks_throw"), 1, "rank [0-2]: no more ink"},
      {run(3, 1, "one_rank_throws_a_number"), 1, "rank 2: the body threw an object that is not a std::exception"},
      {run(3, 1, "throws_a_word"), 1, "rank 1: the body threw an object that is not a std::exception"},
      {run(3, 1, "throws_a_mistake"), 1, "rank 1: no such cell"},
      {run(3, 1, "throws_what_says_nothing"), 1, "rank 1: an exception that says nothing .*Silent"},
      {run(3, 1, "has_a_serializer_that_throws_what_says_nothing"), 1, "rank 1.*: an exception that says nothing"},
      {run(3, 1, "throws_what_paints_the_terminal"), 1, "rank 1: red: .x1b.31m"},
      {run(3, 0, "an_MPI_mistake"), 1, "rank 1: .*MPI_ERR_RANK"},
      {run(3, 0, "one_rank_aborts"), 7, "MPI_Abort with code 7"},
      {run(3, 0, "all_ranks_abort"), 1, "MPI_Abort with code 256"},
      {run(3, 1, "throws_no_memory"), 1, "rank 1: std::bad_alloc"},
  };
}

INSTANTIATE_TEST_SUITE_P(Of, WrongUses,
                         testing::Values(Group{"the_command", of_the_command()}, Group{"options", of_options()},
                                         Group{"porting", of_porting()}, Group{"order", of_order()},
                                         Group{"data", of_data()}, Group{"exceptions", of_exceptions()}),
                         [](const auto& group) { return group.param.name; });

}  // namespace
