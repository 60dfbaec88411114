// Ranks that agree in a loop and die from time to time, until the spares are used up.
//
//   test_soak_subject SEED SPARES SECONDS
//
// In each epoch one rank dies, sometimes two, each at a message of some agreement: in the loop, in a commit, or in the
// recovery from the previous death. Every result is checked. At the end rank 0 prints "agreements N recoveries N
// replaced N".

#include "base/fault_point.hpp"
#include "framework/mend.hpp"
#include "tests/support/world.hpp"
#include "transport/simulated/simulator.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>

namespace {

using mend::transport::scramble;

/// Decides from the seed when this rank dies. Every rank can compute it for all others.
class Fate {
 public:
  Fate(std::uint64_t seed, int spares) : seed_(seed), spares_(spares) {}

  /// Begins an epoch after its restore, and forgets the last one.
  void draw(const mend::Session& session) {
    const auto epoch = static_cast<std::uint64_t>(session.epoch().value);
    const auto ranks = static_cast<std::uint64_t>(session.size());
    const auto rank = static_cast<std::uint64_t>(session.rank().value);
    messages_left_ = 0;
    // At most two die in one epoch, and as many may be dying while it begins.
    if (2 * (epoch + 1) > static_cast<std::uint64_t>(spares_)) return;
    const std::uint64_t first = scramble(seed_, epoch, 1) % ranks;
    const bool second_too = scramble(seed_, epoch, 2) % 4 == 0;
    const bool first_one = rank == first;
    const bool second_one = second_too && rank == (first + 2) % ranks;  // not the holder of the first one's data
    if (first_one || second_one) messages_left_ = 1 + scramble(seed_, epoch, 3 + rank) % 600;
  }

  void meet(std::string_view point) {
    if (!point.starts_with("agreement.") || messages_left_ == 0) return;
    if (--messages_left_ == 0) support::die();
  }

 private:
  std::uint64_t seed_;
  int spares_;
  std::uint64_t messages_left_ = 0;
};

/// The vote of `rank` in agreement `k`: nearly always yes.
bool vote(std::uint64_t seed, long k, int rank) {
  return scramble(seed, static_cast<std::uint64_t>(k), 100 + static_cast<std::uint64_t>(rank)) % 16 != 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(std::stol(argv[3]));
  const auto seed = static_cast<std::uint64_t>(std::stoul(argv[1]));
  Fate fate(seed, std::stoi(argv[2]));
  mend::on_fault_point([&](std::string_view point) { fate.meet(point); });
  return mend::run(argc, argv, [&](mend::Session& session) {
    long k = 0;
    session.store().protect("agreements", k);
    session.store().restore();
    fate.draw(session);  // not before: while only its holder has a newcomer's data, the holder must not die
    for (bool go_on = true; go_on; ++k) {
      if (k % 256 == 255) {
        session.store().commit();
        go_on = session.agree(std::chrono::steady_clock::now() < deadline);
        continue;
      }
      bool expected = true;
      for (int rank = 0; rank < session.size(); ++rank) expected = expected && vote(seed, k, rank);
      if (session.agree(vote(seed, k, session.rank().value)) != expected) {
        throw std::logic_error(fmt::format("agreement {} came to {}", k, !expected));
      }
    }
    if (session.rank() != mend::Rank{0}) return;
    std::size_t replaced = 0;
    for (const mend::RecoveryReport& recovery : session.recoveries()) replaced += recovery.replacements.size();
    fmt::print("agreements {} recoveries {} replaced {}\n", k, session.recoveries().size(), replaced);
    std::fflush(stdout);
  });
}
