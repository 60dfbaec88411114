// Agreements among real processes that die at every message they send or receive: the root, an inner node and a leaf
// of the tree, alone and in pairs. Judged by what each process, the dead included, wrote down when it returned:
//   Termination     every process that was not killed comes to its end,
//   Agreement       whoever has returned from an agreement, and died later too, has returned with the same,
//   Participation   its own contribution in it.
//
// MEND_LONG_TESTS=1 tries all sizes from 3 to 8, all pairs, and everything 5 times.

#include "tests/support/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

namespace {

constexpr int agreements = 3;

bool long_tests() {
  const char* wish = std::getenv("MEND_LONG_TESTS");
  return wish != nullptr && std::string(wish) == "1";
}

struct Kill {
  int rank;
  std::string point;
  int occurrence;
  std::string text() const { return fmt::format("{}:{}:{}", rank, point, occurrence); }
};

/// The messages of one rank, the first ones of all its agreements. In a binary tree a root sends and receives two in
/// each, an inner node three, a leaf one.
std::vector<Kill> messages_of(int rank, int count) {
  std::vector<Kill> kills;
  for (const char* point : {"agreement.send", "agreement.receive"}) {
    for (int occurrence = 1; occurrence <= count; ++occurrence) kills.push_back({rank, point, occurrence});
  }
  return kills;
}

/// What one rank wrote down.
struct Testimony {
  std::vector<std::string> outcomes;  // one for each agreement it has returned from
  bool ended = false;
};

Testimony testimony_of(const std::filesystem::path& file) {
  Testimony testimony;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line == "end") {
      testimony.ended = true;
    } else {
      testimony.outcomes.push_back(line);
    }
  }
  return testimony;
}

class Jury {
 public:
  Jury(std::string protocol, int ranks) : protocol_(std::move(protocol)), ranks_(ranks) {}

  void try_with(const std::vector<Kill>& kills) {
    const support::ScratchFolder scratch;
    std::vector<std::string> program{MEND_AGREEMENT_SUBJECT, protocol_, std::to_string(agreements), scratch.path().string()};
    for (const Kill& kill : kills) program.push_back(kill.text());
    const auto end = support::run_job(support::mend_run(ranks_, 0, program));
    SCOPED_TRACE(fmt::format("mend run -n {} -- {}", ranks_, fmt::join(program, " ")));
    judge(kills, scratch.path());
    if (testing::Test::HasFailure()) std::cerr << end.output << end.errors;
    ++jobs_;
  }
  int jobs() const { return jobs_; }
  int deaths() const { return deaths_; }

 private:
  void judge(const std::vector<Kill>& kills, const std::filesystem::path& evidence) {
    std::vector<std::string> agreed(agreements);
    for (int rank = 0; rank < ranks_; ++rank) {
      const bool condemned = std::any_of(kills.begin(), kills.end(), [&](const Kill& kill) { return kill.rank == rank; });
      const Testimony testimony = testimony_of(evidence / fmt::format("rank-{}", rank));
      if (testimony.ended) {
        EXPECT_EQ(testimony.outcomes.size(), std::size_t{agreements});
        // In a pair the first death may spare the second its message.
        EXPECT_FALSE(condemned && kills.size() == 1) << "rank " << rank << " did not die";
      } else {
        EXPECT_TRUE(condemned) << "rank " << rank << " did not come to its end";
        ++deaths_;
      }
      for (std::size_t i = 0; i < testimony.outcomes.size(); ++i) {
        const std::string& outcome = testimony.outcomes[i];
        if (agreed[i].empty()) agreed[i] = outcome;
        EXPECT_EQ(outcome, agreed[i]) << "on rank " << rank;
        const unsigned long value = std::stoul(outcome.substr(outcome.find(' ')), nullptr, 16);
        EXPECT_EQ(value & (1UL << rank), 0U) << "rank " << rank << " returned without its own contribution";
      }
    }
  }

  std::string protocol_;
  int ranks_;
  int jobs_ = 0;
  int deaths_ = 0;
};

struct Group {
  const char* protocol;
  int ranks;
};
void PrintTo(const Group& group, std::ostream* out) { *out << group.protocol << " among " << group.ranks; }

class OneDies : public testing::TestWithParam<Group> {};
class TwoDie : public testing::TestWithParam<Group> {};

/// Root, inner node and leaf of a binary tree.
std::vector<int> roles(int ranks) { return {0, 1, ranks - 1}; }
int messages_in(int rank, int ranks) {
  const int children = std::max(0, std::min(2, ranks - 1 - 2 * rank));
  return agreements * (children + (rank == 0 ? 0 : 1));
}

void report(const Jury& jury) { std::cout << jury.jobs() << " jobs, " << jury.deaths() << " deaths\n"; }

TEST_P(OneDies, at_each_of_its_messages) {
  const auto [protocol, ranks] = GetParam();
  Jury jury(protocol, ranks);
  for (int i = 0; i < (long_tests() ? 5 : 1); ++i) {
    for (const int rank : roles(ranks)) {
      for (const Kill& kill : messages_of(rank, messages_in(rank, ranks))) jury.try_with({kill});
    }
  }
  report(jury);
}

TEST_P(TwoDie, at_two_of_their_messages) {
  const auto [protocol, ranks] = GetParam();
  Jury jury(protocol, ranks);
  for (int i = 0; i < (long_tests() ? 5 : 1); ++i) {
    const auto who = roles(ranks);
    for (const auto& [first, second] : {std::pair{who[0], who[1]}, std::pair{who[0], who[2]}, std::pair{who[1], who[2]}}) {
      // The shorter test leaves the first agreement in peace, and its neighbours' messages alike.
      for (const Kill& one : messages_of(first, long_tests() ? messages_in(first, ranks) : 2)) {
        for (const Kill& other : messages_of(second, long_tests() ? messages_in(second, ranks) : 2)) {
          jury.try_with({one, other});
        }
      }
    }
  }
  report(jury);
}

std::vector<Group> groups(const char* protocol, std::vector<int> usual) {
  if (long_tests()) usual = {3, 4, 5, 6, 7, 8};
  std::vector<Group> all;
  for (const int ranks : usual) all.push_back({protocol, ranks});
  return all;
}
std::string name_of(const testing::TestParamInfo<Group>& info) { return fmt::format("{}_ranks", info.param.ranks); }

using testing::ValuesIn;
INSTANTIATE_TEST_SUITE_P(Era, OneDies, ValuesIn(groups("era", {3, 5, 8})), name_of);
INSTANTIATE_TEST_SUITE_P(Era, TwoDie, ValuesIn(groups("era", {7})), name_of);
INSTANTIATE_TEST_SUITE_P(Log2phases, OneDies, ValuesIn(groups("log2phases", {5})), name_of);
INSTANTIATE_TEST_SUITE_P(ValidateAll, OneDies, ValuesIn(groups("validate-all", {5})), name_of);
INSTANTIATE_TEST_SUITE_P(Log2phases, TwoDie, ValuesIn(groups("log2phases", {4})), name_of);
INSTANTIATE_TEST_SUITE_P(ValidateAll, TwoDie, ValuesIn(groups("validate-all", {4})), name_of);

}  // namespace
