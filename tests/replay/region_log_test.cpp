// The log of regions (replay/region_log.hpp): drawn programs, in which ranks begin regions, commit for themselves and
// die at any moment, end with the values of a run without deaths.

#include "replay/region_log.hpp"

#include "tests/replay/hash.hpp"
#include "tests/support/sanitized.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using mend::replay::Channel;
using mend::replay::hash;
using mend::replay::mixed;
using mend::replay::RegionLog;

void send_if_needed(RegionLog& log, const Channel& channel, std::uint64_t value, std::deque<std::uint64_t>& wire) {
  const auto copy = log.begin_send(channel, sizeof value);
  std::memcpy(copy.bytes.data(), &value, sizeof value);
  log.end_send(channel, copy.bytes);
  if (copy.needed) wire.push_back(value);
}

void receive_value(RegionLog& log, const Channel& channel, std::uint64_t value) {
  log.receive(channel, std::as_bytes(std::span(&value, 1)), false);
}

// --- drawn programs --------------------------------------------------------------------------------------------

struct RegionStep {
  enum class What { region, sends, receives, commits } what;
  int peer = 0;
  int tag = 0;
};
using RegionProgram = std::vector<std::vector<RegionStep>>;  // by rank

/// Messages may be received regions later than they are sent, and commits lie anywhere.
RegionProgram draw_region_program(std::mt19937& random, int ranks, int regions) {
  RegionProgram program(static_cast<std::size_t>(ranks));
  std::vector<std::pair<int, int>> under_way;  // receiver and step, to be received
  std::map<int, std::deque<RegionStep>> owed;  // by receiver
  for (int region = 0; region < regions; ++region) {
    for (auto& steps : program) steps.push_back({RegionStep::What::region});
    for (int event = 0; event < 3 * ranks; ++event) {
      const int rank = static_cast<int>(random() % static_cast<unsigned>(ranks));
      auto& steps = program[static_cast<std::size_t>(rank)];
      const unsigned kind = random() % 8;
      if (kind == 0) {
        steps.push_back({RegionStep::What::commits});
      } else if (kind < 4 && ranks > 1) {
        const int peer = (rank + 1 + static_cast<int>(random() % static_cast<unsigned>(ranks - 1))) % ranks;
        const int tag = static_cast<int>(random() % 2);
        steps.push_back({RegionStep::What::sends, peer, tag});
        owed[peer].push_back({RegionStep::What::receives, rank, tag});
      } else if (!owed[rank].empty()) {
        steps.push_back(owed[rank].front());
        owed[rank].pop_front();
      }
    }
  }
  for (auto& [rank, steps] : owed)
    for (const RegionStep& step : steps) program[static_cast<std::size_t>(rank)].push_back(step);
  return program;
}

struct Rank {
  explicit Rank(std::size_t depth) : log(std::make_unique<RegionLog>(depth, &hash)) {}
  std::unique_ptr<RegionLog> log;
  std::size_t at = 0;
  int region = -1;
  std::uint64_t value = 0;
};

struct Commit {
  std::size_t at = 0;
  int region = -1;
  std::uint64_t value = 0;
  std::vector<std::byte> log;
};

class RegionJob {
 public:
  RegionJob(const RegionProgram& program, std::size_t depth) : program_(program), depth_(depth) {
    for (std::size_t rank = 0; rank < program.size(); ++rank) {
      ranks_.emplace_back(depth);
      ranks_.back().value = rank;
      commits_.push_back({0, -1, rank, ranks_.back().log->write()});
    }
  }

  bool is_over() const {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      if (ranks_[rank].at < program_[rank].size()) return false;
    return true;
  }

  /// Does the next step of `rank`; false if it waits for a message, or has none.
  bool go_on(std::size_t index) {
    Rank& rank = ranks_[index];
    if (rank.at == program_[index].size()) return false;
    const RegionStep& step = program_[index][rank.at];
    const Channel channel{step.peer, 0, step.tag};
    switch (step.what) {
      case RegionStep::What::region: rank.log->begin_region(++rank.region); break;
      case RegionStep::What::sends:
        rank.value = mixed(rank.value + 1);
        send_if_needed(*rank.log, channel, rank.value, wire(index, step.peer, step.tag));
        break;
      case RegionStep::What::receives: {
        auto& queue = wire(static_cast<std::size_t>(step.peer), static_cast<int>(index), step.tag);
        if (queue.empty()) return false;
        receive_value(*rank.log, channel, queue.front());
        rank.value = mixed(rank.value ^ queue.front());
        queue.pop_front();
        break;
      }
      case RegionStep::What::commits:
        commits_[index] = {rank.at + 1, rank.region, rank.value, rank.log->write()};
        break;
    }
    ++rank.at;
    return true;
  }

  /// These die: what is under way is lost, they go on from their commits, and all tell each other.
  void die(const std::vector<std::size_t>& dead) {
    wires_.clear();
    for (const std::size_t index : dead) {
      const Commit& commit = commits_[index];
      Rank fresh(depth_);
      fresh.log->read(commit.log);
      fresh.at = commit.at;
      fresh.region = commit.region;
      fresh.value = commit.value;
      ranks_[index] = std::move(fresh);
    }
    const RegionLog::Position stays{};
    const auto size = static_cast<int>(ranks_.size());
    for (int self = 0; self < size; ++self) {
      for (int peer = 0; peer < size; ++peer) {
        const auto report = at(peer).report_for(self, stays);
        ASSERT_TRUE(at(self).can_serve(peer, stays, report));
      }
    }
    std::vector<std::vector<RegionLog::Report>> reports;
    for (int self = 0; self < size; ++self) {
      reports.emplace_back();
      for (int peer = 0; peer < size; ++peer) reports.back().push_back(at(peer).report_for(self, stays));
    }
    for (int self = 0; self < size; ++self) {
      for (int peer = 0; peer < size; ++peer) {
        const auto& report = reports[static_cast<std::size_t>(self)][static_cast<std::size_t>(peer)];
        for (const auto& resent : at(self).hear(peer, stays, report, false)) {
          std::uint64_t value = 0;
          std::memcpy(&value, resent.bytes.data(), sizeof value);
          wire(static_cast<std::size_t>(self), peer, resent.channel.tag).push_back(value);
        }
      }
    }
  }

  std::vector<std::uint64_t> values() const {
    std::vector<std::uint64_t> all;
    for (const Rank& rank : ranks_) all.push_back(rank.value);
    return all;
  }
  bool has_difference() const {
    return std::ranges::any_of(ranks_, [](const Rank& rank) { return rank.log->difference().has_value(); });
  }

 private:
  RegionLog& at(int rank) { return *ranks_[static_cast<std::size_t>(rank)].log; }
  std::deque<std::uint64_t>& wire(std::size_t from, int to, int tag) {
    return wires_[{static_cast<int>(from), to, tag}];
  }

  const RegionProgram& program_;
  std::size_t depth_;
  std::vector<Rank> ranks_;
  std::vector<Commit> commits_;
  std::map<std::tuple<int, int, int>, std::deque<std::uint64_t>> wires_;
};

void play_regions(RegionJob& run, std::mt19937& random, std::size_t ranks, int deaths) {
  int idle = 0;
  while (!run.is_over()) {
    if (deaths > 0 && random() % 40 == 0) {
      --deaths;
      std::vector<std::size_t> dead{random() % ranks};
      if (random() % 3 == 0) dead.push_back(random() % ranks);
      run.die(dead);
      idle = 0;
    }
    idle = run.go_on(random() % ranks) ? 0 : idle + 1;
    ASSERT_LT(idle, 10'000) << "nobody can go on";
  }
}

TEST(RegionLog, has_drawn_programs_end_as_without_deaths) {
  constexpr std::size_t all_regions = 64;
  for (unsigned seed = 0; seed < (support::sanitized ? 300U : 3'000U); ++seed) {
    std::mt19937 random(seed);
    const int ranks = 2 + static_cast<int>(random() % 3);
    const RegionProgram program = draw_region_program(random, ranks, 2 + static_cast<int>(random() % 6));
    RegionJob undisturbed(program, all_regions);
    play_regions(undisturbed, random, static_cast<std::size_t>(ranks), 0);
    RegionJob run(program, all_regions);
    play_regions(run, random, static_cast<std::size_t>(ranks), 5);
    ASSERT_EQ(run.values(), undisturbed.values()) << "seed " << seed;
    ASSERT_FALSE(run.has_difference()) << "seed " << seed;
  }
}

// --- one by one ------------------------------------------------------------------------------------------------

constexpr Channel to_1{1, 0, 5};

TEST(RegionLog, goes_back_to_the_beginning_of_a_region) {
  std::deque<std::uint64_t> wire;
  RegionLog log(4, &hash);
  log.begin_region(3);
  send_if_needed(log, to_1, 30, wire);
  log.begin_region(4);
  send_if_needed(log, to_1, 40, wire);
  log.go_back_to(4);
  EXPECT_EQ(log.region(), 4);
  const auto resent = log.hear(1, {}, {}, false);
  ASSERT_EQ(resent.size(), 1U);  // of region 3
  EXPECT_TRUE(log.can_begin(4));
  log.go_back_to(3);
  EXPECT_TRUE(log.hear(1, {}, {}, false).empty());
}

TEST(RegionLog, keeps_so_many_regions_and_says_when_one_is_missed) {
  std::deque<std::uint64_t> wire;
  RegionLog log(2, &hash);
  for (int region = 0; region < 4; ++region) {
    log.begin_region(region);
    send_if_needed(log, to_1, 10U + static_cast<std::uint64_t>(region), wire);
  }
  EXPECT_FALSE(log.can_go_back_to(1));
  EXPECT_TRUE(log.can_go_back_to(2));
  EXPECT_FALSE(log.can_serve(1, {}, {}));  // has nothing
  EXPECT_FALSE(log.can_serve(1, {true, 1}, {}));
  EXPECT_TRUE(log.can_serve(1, {true, 2}, {}));
  RegionLog receiver(2, &hash);
  receiver.begin_region(0);
  receive_value(receiver, {0, 0, 5}, 10);
  receive_value(receiver, {0, 0, 5}, 11);
  const auto report = receiver.report_for(0, {});
  EXPECT_TRUE(log.can_serve(1, {}, report));
  EXPECT_EQ(log.hear(1, {}, report, false).size(), 2U);
}

TEST(RegionLog, without_messages_takes_its_counts_from_the_others) {
  std::deque<std::uint64_t> wire;
  RegionLog log(4, &hash);
  log.begin_region(0);
  send_if_needed(log, to_1, 1, wire);
  receive_value(log, {1, 0, 6}, 2);
  log.begin_region(1);
  send_if_needed(log, to_1, 3, wire);
  receive_value(log, {1, 0, 6}, 4);
  RegionLog fresh(4, &hash);
  fresh.go_back_to(1);
  const RegionLog::Position stays{};
  const RegionLog::Position begins{true, 1};
  const auto told = log.report_for(1, begins);
  const auto telling = fresh.report_for(0, stays);
  EXPECT_EQ(log.hear(1, begins, telling, false).size(), 1U);  // 3
  EXPECT_TRUE(fresh.hear(0, stays, told, true).empty());
  wire.clear();
  send_if_needed(fresh, {0, 0, 6}, 4, wire);
  EXPECT_TRUE(wire.empty());  // has come
  EXPECT_FALSE(fresh.difference());
  send_if_needed(fresh, {0, 0, 6}, 5, wire);
  EXPECT_EQ(wire.size(), 1U);
}

TEST(RegionLog, takes_a_call_back_that_a_failure_has_interrupted) {
  std::deque<std::uint64_t> wire;
  RegionLog log(4, &hash);
  log.begin_region(0);
  log.begin_call();
  send_if_needed(log, to_1, 1, wire);
  receive_value(log, {1, 0, 6}, 2);
  log.undo_call();
  EXPECT_TRUE(log.can_begin(0));
  EXPECT_TRUE(log.report_for(1, {}).received.empty());
  log.begin_call();
  const std::uint64_t value = 2;
  log.receive({1, 0, 6}, std::as_bytes(std::span(&value, 1)), true);
  log.undo_call();
  EXPECT_EQ(log.report_for(1, {}).received.at({1, 0, 6}).number, 1U);  // by request
}

/// Returns `bytes` with another word in the place of each `word`.
std::vector<std::byte> with_other_words(std::vector<std::byte> bytes, std::uint64_t word, std::uint64_t other) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof word)
    if (std::memcmp(bytes.data() + at, &word, sizeof word) == 0) std::memcpy(bytes.data() + at, &other, sizeof other);
  return bytes;
}

TEST(RegionLog, stays_as_it_is_if_it_is_not_given_what_was_written) {
  std::deque<std::uint64_t> wire;
  RegionLog source(1'003, &hash);
  for (const int region : {1'001, 1'002}) {
    source.begin_region(region);
    send_if_needed(source, to_1, 1, wire);
    receive_value(source, {1, 0, 6}, 2);
  }
  const std::vector<std::byte> written = source.write();
  RegionLog log(4, &hash);
  log.begin_region(7);
  send_if_needed(log, to_1, 3, wire);
  const std::vector<std::byte> before = log.write();
  const auto expect_refused = [&](std::span<const std::byte> bytes, const char* what) {
    EXPECT_THROW(log.read(bytes), std::runtime_error) << what << ", " << bytes.size() << " bytes";
    EXPECT_TRUE(log.write() == before) << what << ", " << bytes.size() << " bytes";
  };
  for (std::size_t size = 0; size < written.size(); ++size) expect_refused(std::span(written).first(size), "cut off");
  std::vector<std::byte> longer = written;
  longer.push_back(std::byte{0});
  expect_refused(longer, "one byte more");
  expect_refused(with_other_words(written, 1'003, 0), "depth 0");
  expect_refused(with_other_words(written, 1'003, 1), "more regions than the depth");
  expect_refused(with_other_words(written, 1'002, 1'001), "the same region twice");
  expect_refused(with_other_words(written, 1'002, std::uint64_t{1} << 40U), "no number of a region");
  log.read(written);
  EXPECT_TRUE(log.write() == written);
  EXPECT_EQ(log.region(), 1'002);
}

TEST(RegionLog, notices_another_content_at_the_last_known_message) {
  std::deque<std::uint64_t> wire;
  RegionLog receiver(4, &hash);
  receive_value(receiver, {0, 0, 5}, 1);
  receive_value(receiver, {0, 0, 5}, 2);
  RegionLog log(4, &hash);
  log.hear(1, {}, receiver.report_for(0, {}), false);
  send_if_needed(log, to_1, 7, wire);
  EXPECT_FALSE(log.difference());
  send_if_needed(log, to_1, 2, wire);
  ASSERT_TRUE(log.difference());
  EXPECT_EQ(log.difference()->number, 2U);
}

}  // namespace
