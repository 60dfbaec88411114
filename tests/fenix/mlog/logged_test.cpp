// Programs for Fenix with message logs, in C and in C++: after real deaths their results have the bits of an
// undisturbed run, and those who stay compute no step twice.

#include "tests/fenix/fenix_job.hpp"
#include "tests/fenix/snapshot/lost_data.hpp"
#include "tests/support/long_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <vector>

namespace {

using support::JobEnd;
using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;

struct Client {
  const char* program;
  std::string mode;
};

JobEnd play_client(const Client& client, int spares, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {client.mode, fmt::format("--spares={}", spares)});
  return play_fenix(client.program, spares, arguments);
}

/// The bits that each rank says, without how often it has computed.
std::vector<std::string> bits_of(const JobEnd& end) {
  std::vector<std::string> lines = said(end);
  for (std::string& line : lines) line = line.substr(0, line.find(" after"));
  return lines;
}

std::vector<std::string> undisturbed(const Client& client, int steps) {
  static std::map<std::pair<std::string, int>, std::vector<std::string>> known;
  std::vector<std::string>& bits = known[{client.program, steps}];
  if (bits.empty()) bits = bits_of(play_client({client.program, "autosync"}, 0, {fmt::format("--steps={}", steps)}));
  return bits;
}

/// `computed`: how many steps each rank has computed in the process that has it at the end; -1: any number.
void expect_same(const Client& client, const JobEnd& end, int steps, const std::vector<int>& computed) {
  ASSERT_THAT(undisturbed(client, steps), SizeIs(ranks));
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(bits_of(end), undisturbed(client, steps)) << end.errors;
  EXPECT_THAT(said(end), Each(EndsWith(" 0 checks failed"))) << end.errors;
  const std::vector<std::string> lines = said(end);
  for (std::size_t rank = 0; rank < lines.size() && rank < computed.size(); ++rank) {
    if (computed[rank] >= 0) {
      EXPECT_THAT(lines[rank], HasSubstr(fmt::format(" after {} steps", computed[rank]))) << end.errors;
    }
  }
}

// --- in C ------------------------------------------------------------------------------------------------------

constexpr int c_steps = 24;  // a commit every 5, and one before

void die_in_c(const std::string& mode, const std::string& deaths, int spares, const std::vector<int>& computed,
              std::vector<std::string> options = {}) {
  SCOPED_TRACE(mode + " " + deaths);
  const Client client{MEND_FENIX_LOGGED, mode};
  options.insert(options.end(), {fmt::format("--steps={}", c_steps), "--die=" + deaths});
  expect_same(client, play_client(client, spares, options), c_steps, computed);
}

class MessageLogInC : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Modes, MessageLogInC, testing::Values("autosync", "inline", "return"));

TEST_P(MessageLogInC, has_only_the_dead_go_back_whoever_dies) {
  die_in_c(GetParam(), "exchanging:8:0:1", 1, {19, 24, 24, 24});
  die_in_c(GetParam(), "waiting:8:1:1", 1, {24, 19, 24, 24});
  die_in_c(GetParam(), "collecting:8:3:1", 1, {24, 24, 24, 19});
}

TEST_P(MessageLogInC, survives_two_deaths_at_once) {
  // If the first death is noticed in time, the second process lives.
  die_in_c(GetParam(), "waiting:12:0:2,waiting:12:2:2", 2, {-1, 24, -1, 24});
}

TEST_P(MessageLogInC, survives_the_successor_where_it_restores_syncs_and_replays) {
  for (const char* second : {"restoring:0:1:1", "syncing:0:1:1", "synced:0:1:1", "collecting:6:1:1"})
    die_in_c(GetParam(), std::string("exchanging:8:1:2,") + second, 2, {24, 19, 24, 24});
}

TEST_P(MessageLogInC, survives_another_while_it_helps_the_successor) {
  die_in_c(GetParam(), "exchanging:8:1:2,calling_back:0:3:1", 2, {24, 19, 24, 19});
  die_in_c(GetParam(), "exchanging:8:1:2,collecting:9:3:1", 2, {24, -1, 24, 19});
}

TEST_P(MessageLogInC, survives_deaths_around_a_commit_and_at_the_end) {
  die_in_c(GetParam(), "committing:10:1:1", 1, {24, 19, 24, 24});
  die_in_c(GetParam(), "committed:10:2:1", 1, {24, 24, 14, 24});
  die_in_c(GetParam(), "finishing:24:0:1", 1, {4, 24, 24, 24});
}

TEST_P(MessageLogInC, has_only_the_dead_go_back_from_calls_that_are_begun_or_matched_first) {
  die_in_c(GetParam(), "sending:9:1:1", 1, {24, 19, 24, 24});
  die_in_c(GetParam(), "matched:9:0:1", 1, {19, 24, 24, 24});
  die_in_c(GetParam(), "begun:9:2:1", 1, {24, 24, 19, 24});
  die_in_c(GetParam(), "transposing:9:3:1", 1, {24, 24, 24, 19});
  die_in_c(GetParam(), "matched:9:1:2,transposing:9:3:1", 2, {24, 19, 24, 19});
  die_in_c(GetParam(), "begun:9:1:2,matched:9:1:1", 2, {24, 19, 24, 24});
}

TEST(MessageLog, is_of_use_without_being_committed) {
  die_in_c("autosync", "waiting:13:3:1", 1, {24, 24, 24, 14}, {"--kept=no"});
  die_in_c("autosync", "waiting:13:3:2,collecting:14:3:1", 2, {24, 24, 24, 14}, {"--kept=no"});
}

TEST(MessageLog, serves_a_program_in_which_all_jump_back) {
  die_in_c("jump", "waiting:13:3:1", 1, {27, 27, 27, 14});
  die_in_c("jump", "waiting:13:3:2,syncing:0:1:1", 2, {-1, -1, -1, -1});
}

TEST(MessageLog, that_is_too_short_is_told_in_a_sentence) {
  const auto end = play_client({MEND_FENIX_LOGGED, "autosync"}, 1, {"--depth=2", "--die=waiting:13:3:1"});
  EXPECT_EQ(end.exit_code, 2) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("rank 3 needs messages again that message log 7 does not keep any more"));
}

// --- in C++ ----------------------------------------------------------------------------------------------------

constexpr int cpp_steps = 30;  // a commit every 6, and one before

void die_in_cpp(const std::string& mode, const std::string& deaths, int spares, const std::vector<int>& computed) {
  SCOPED_TRACE(mode + " " + deaths);
  const Client client{MEND_FENIX_STENCIL, mode};
  const auto end = play_client(client, spares, {fmt::format("--steps={}", cpp_steps), "--die=" + deaths});
  expect_same(client, end, cpp_steps, computed);
}

class MessageLogsInCpp : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Modes, MessageLogsInCpp, testing::Values("autosync", "throw"));

TEST_P(MessageLogsInCpp, have_only_the_dead_go_back) {
  die_in_cpp(GetParam(), "exchanged:8:0:1", 1, {24, 30, 30, 30});
  die_in_cpp(GetParam(), "summing:8:2:1", 1, {30, 30, 24, 30});
  die_in_cpp(GetParam(), "exchanging:15:1:2,exchanging:15:3:2", 2, {30, -1, 30, -1});
}

TEST_P(MessageLogsInCpp, survive_deaths_in_a_recovery_a_commit_and_at_the_end) {
  die_in_cpp(GetParam(), "summing:8:1:2,between:0:1:1", 2, {30, 24, 30, 30});
  die_in_cpp(GetParam(), "exchanged:8:1:2,calling_back:0:3:1", 2, {30, 24, 30, 24});
  die_in_cpp(GetParam(), "committing:12:2:1", 1, {30, 30, 24, 30});
  die_in_cpp(GetParam(), "finishing:30:0:1", 1, {0, 30, 30, 30});
}

TEST(MessageLogs, refuse_wrong_arguments_and_go_on) {
  const Client client{MEND_FENIX_STENCIL, "arguments"};
  const auto end = play_client(client, 0, {fmt::format("--steps={}", cpp_steps)});
  expect_same({MEND_FENIX_STENCIL, "autosync"}, end, cpp_steps, {30, 30, 30, 30});
}

TEST(MessageLogs, refuse_in_a_sentence_what_they_do_not_cover) {
  const std::map<std::string, std::string> sentences{
      {"any_source", "a receive was called with MPI_ANY_SOURCE, which a message log does not cover"},
      {"call_not_covered", "a message log does not cover MPI_Psend_init"},
      {"duplicate", "a communicator is made while a message log is active"},
      {"same_tag", "message logs 2 and 5 both have messages to rank"}};
  for (const auto& [mode, sentence] : sentences) {
    const auto end = play_client({MEND_FENIX_STENCIL, mode}, 0, {});
    EXPECT_EQ(end.exit_code, 2) << mode << end.errors;
    EXPECT_THAT(end.errors, HasSubstr(sentence));
  }
}

TEST(MessageLogs, notice_a_program_that_is_not_send_deterministic) {
  const auto end = play_client({MEND_FENIX_STENCIL, "random"}, 1, {"--die=exchanging:8:1:1"});
  EXPECT_EQ(end.exit_code, 2) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("to rank 2 with tag 0 or one before it has another content when it is sent again"));
}

TEST(MessageLogs, that_nobody_syncs_end_the_job) {
  const auto end = play_client({MEND_FENIX_STENCIL, "unsynced"}, 1, {"--die=exchanging:8:1:1"});
  EXPECT_EQ(end.exit_code, 2) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("a message log is not synced after a recovery in place"));
}

// --- at any moment ---------------------------------------------------------------------------------------------

/// 1 to 4 of 8 processes die in the first 0.7 s, spares among them. Returns false if two died at once that hold each
/// other's data: then that is told.
bool strike(std::mt19937& random) {
  constexpr int steps = 400;
  static const std::vector<Client> clients{{MEND_FENIX_LOGGED, "autosync"},  {MEND_FENIX_LOGGED, "inline"},
                                           {MEND_FENIX_LOGGED, "return"},    {MEND_FENIX_LOGGED, "jump"},
                                           {MEND_FENIX_STENCIL, "autosync"}, {MEND_FENIX_STENCIL, "throw"}};
  const Client& client = clients[random() % clients.size()];
  std::vector<int> victims{0, 1, 2, 3, 4, 5, 6, 7};
  std::ranges::shuffle(victims, random);
  victims.resize(1 + random() % 4);
  std::string deaths;
  for (const int victim : victims)
    deaths += fmt::format("{}{}:{}", deaths.empty() ? "" : ",", victim,
                          std::uniform_int_distribution<int>(0, 700'000)(random));
  SCOPED_TRACE(fmt::format("{} {} --die-after={}", client.program, client.mode, deaths));
  const auto end = play_client(client, 4, {fmt::format("--steps={}", steps), "--die-after=" + deaths});
  if (lost_data_of_ranks_that_died_together(end)) return false;
  expect_same(client, end, steps, {});
  return true;
}

/// A few jobs; with MEND_TEST_LONG=1 as many as go into 60 s.
TEST(MessageLogs, give_the_same_bits_under_random_kills) {
  const bool is_long = support::long_tests();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::mt19937 random(7);
  int jobs = 0;
  int lost = 0;
  while (jobs < 4 || (is_long && std::chrono::steady_clock::now() < until)) {
    ++jobs;
    lost += strike(random) ? 0 : 1;
    if (HasFailure()) break;
  }
  fmt::print("{} jobs with 1 to 4 kills each, {} of which lost data that two processes had alone\n", jobs, lost);
}

}  // namespace
