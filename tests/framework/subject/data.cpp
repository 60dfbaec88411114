// Bodies that commit and restore, or do not, while ranks die.

#include "tests/framework/subject/subject.hpp"

#include "base/fault_point.hpp"
#include "base/launch.hpp"
#include "store/snapshot/memory/block_reserve.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace subject {
namespace {

/// The first of `ranks` kills the others and itself; none of them does anything after that. Collective.
void die_together(const mend::Session& session, const std::vector<int>& ranks) {
  const int mine = static_cast<int>(::getpid());
  std::vector<int> pids(static_cast<std::size_t>(session.size()));
  MPI_Allgather(&mine, 1, MPI_INT, pids.data(), 1, MPI_INT, session.comm());
  const int self = session.rank().value;
  if (std::find(ranks.begin(), ranks.end(), self) == ranks.end()) return;
  if (self != ranks.front()) ::pause();
  for (const int rank : ranks) {
    if (rank != self) ::kill(pids[static_cast<std::size_t>(rank)], SIGKILL);
  }
  die();
}

/// Calls count() for 10 steps; `ranks` die before step 5 of epoch 0. Fails if a later epoch begins with another step.
mend::Body count_while_these_die(std::vector<int> ranks) {
  return [ranks](mend::Session& session) {
    bool has_begun = false;
    count(session, 10, [&](long step) {
      if (!std::exchange(has_begun, true) && session.epoch() != mend::Epoch{0} && step != 5)
        throw std::runtime_error(fmt::format("the count was taken up at step {} instead of 5", step));
      if (step == 5 && session.epoch() == mend::Epoch{0} && !ranks.empty()) die_together(session, ranks);
    });
  };
}

/// The numbers in "1,2,4".
std::vector<int> listed(std::string_view text) {
  std::vector<int> numbers;
  while (!text.empty()) {
    const auto end = std::min(text.find(','), text.size());
    numbers.push_back(std::stoi(std::string(text.substr(0, end))));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return numbers;
}

/// How evolve() commits.
enum class Commits { at_once, asynchronously };

/// The deaths: some ranks together before step 5; then one at a fault point, or in that step if there are no others.
struct Deaths {
  std::vector<int> together;
  int later = -1;
  std::string place;
};

/// "1,2;3@restore.vote"; either part may be missing.
Deaths deaths_in(std::string_view text) {
  Deaths deaths;
  const auto semicolon = std::min(text.find(';'), text.size());
  deaths.together = listed(text.substr(0, semicolon));
  if (const auto at = text.find('@'); at != std::string_view::npos) {
    deaths.later = listed(text.substr(semicolon + 1, at - semicolon - 1)).front();
    deaths.place = text.substr(at + 1);
  }
  return deaths;
}

/// Evolves data of a different size on each rank for 10 steps, and prints the result. The field may have its own
/// redundancy.
void evolve(mend::Session& session, const Deaths& deaths, Commits commits, const std::string& of_field = "") {
  const int rank = session.rank().value;
  const auto prepare_to_die = [&] {
    if (rank != deaths.later || session.predecessors() > 0) return;
    mend::on_fault_point([&session, place = deaths.place](std::string_view point) {
      if (point != place) return;
      say(session, fmt::format("dies at {}", point));
      die();
    });
  };
  if (session.epoch() > mend::Epoch{0}) prepare_to_die();
  int step = 0;
  std::vector<double> field(static_cast<std::size_t>(5000 * rank + 3), rank);
  session.store().protect("step", step);
  if (of_field.empty())
    session.store().protect("field", field);
  else
    session.store().protect("field", field, mend::Redundancy::parse(of_field));
  session.store().restore();
  for (; step < 10;) {
    if (step == 5 && session.epoch() == mend::Epoch{0}) {
      if (deaths.together.empty())
        prepare_to_die();
      else
        die_together(session, deaths.together);
    }
    double mean = std::accumulate(field.begin(), field.end(), 0.0) / static_cast<double>(field.size());
    MPI_Allreduce(MPI_IN_PLACE, &mean, 1, MPI_DOUBLE, MPI_MAX, session.comm());
    for (std::size_t i = 0; i < field.size(); ++i) field[i] = 0.5 * field[i] + mean + static_cast<double>(i % 7);
    ++step;
    const bool due = session.commit_due();
    if (commits == Commits::asynchronously && due)
      session.store().commit_async();
    else if (due)
      session.store().commit();
  }
  say(session, fmt::format("sum {:a}", std::accumulate(field.begin(), field.end(), 0.0)));
}

std::size_t files_in(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator files(folder);
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

}  // namespace

mend::Body evolve_while_these_die(std::string_view deaths) {
  return [deaths = deaths_in(deaths)](mend::Session& session) { evolve(session, deaths, Commits::at_once); };
}

mend::Body commit_asynchronously_while_these_die(std::string_view deaths) {
  return [deaths = deaths_in(deaths)](mend::Session& session) { evolve(session, deaths, Commits::asynchronously); };
}

mend::Body die_when_a_spare_is_ready(std::string_view what) {
  const auto semicolon = std::min(what.find(';'), what.size());
  const std::filesystem::path folder(what.substr(0, semicolon));
  const std::vector<int> doomed = listed(what.substr(std::min(semicolon + 1, what.size())));
  const int self = static_cast<int>(mend::launch::self().value_or(mend::ProcessId{0}).value);
  const bool dies = std::find(doomed.begin(), doomed.end(), self) != doomed.end();
  const auto note = folder / std::to_string(self);
  mend::on_fault_point([note, dies](std::string_view point) {
    if (point == "spare.prepare" && dies) {
      std::ofstream{note};
      die();
    }
    if (point == "spare.prepared") std::ofstream{note};
  });
  return [folder, notes = folder == "none" ? 0 : doomed.size() + 1](mend::Session& session) {
    auto& ready = mend::BlockReserve::instance();
    const mend::ByteCount before = ready.bytes();
    std::vector<double> field(1 << 20, session.rank().value);
    session.store().protect("field", field);
    session.store().restore();
    if (session.role() == mend::Role::newcomer) {
      say(session,
          fmt::format("{} blocks of memory were ready, {} are left", before / (9 << 20), ready.bytes() / (9 << 20)));
    }
    if (session.epoch() > mend::Epoch{0}) return say(session, fmt::format("value {}", field.back()));
    session.store().commit();
    if (session.rank() == mend::Rank{1}) {
      while (notes > 0 && files_in(folder) < notes) std::this_thread::yield();
      die();
    }
    MPI_Barrier(session.comm());
  };
}

/// Rank 0 kills all ranks, before or `after` the first commit; later holders count to the end.
mend::Body die_all_at_once(bool after) {
  return [after](mend::Session& session) {
    count(session, 10, [&](long step) {
      if (step != (after ? 5 : 0) || session.epoch() != mend::Epoch{0}) return;
      session.store().finish_disk();  // if there is a disk
      const pid_t self = ::getpid();
      std::vector<pid_t> all(static_cast<std::size_t>(session.size()));
      MPI_Allgather(&self, 1, MPI_INT, all.data(), 1, MPI_INT, session.comm());
      while (session.rank() != mend::Rank{0}) ::pause();
      for (const pid_t other : all | std::views::drop(1)) ::kill(other, SIGKILL);
      die();
    });
  };
}

mend::Body evolve_in_two_groups(std::string_view what) {
  const auto semicolon = what.find(';');
  return [of_field = std::string(what.substr(0, semicolon)), deaths = deaths_in(what.substr(semicolon + 1))](
             mend::Session& session) { evolve(session, deaths, Commits::at_once, of_field); };
}

Scenarios data_scenarios() {
  Scenarios all;
  all["nobody_dies"] = count_while_these_die({});
  all["rank_0_dies"] = count_while_these_die({0});
  all["rank_1_dies"] = count_while_these_die({1});
  all["a_rank_and_its_holder_die"] = count_while_these_die({1, 2});
  all["ranks_0_and_1_die"] = count_while_these_die({0, 1});
  all["ranks_0_to_3_die"] = count_while_these_die({0, 1, 2, 3});

  all["all_ranks_die_before_a_commit"] = die_all_at_once(false);
  all["all_ranks_die_after_a_commit"] = die_all_at_once(true);

  all["a_rank_dies_in_every_epoch"] = [](mend::Session& session) {
    count(session, 17, [&](long step) {
      const int epoch = static_cast<int>(session.epoch().value);
      if (step == 3 * epoch + 2 && session.rank().value == epoch % session.size()) die();
    });
  };
  all["dies_at_step_5_again_and_again"] = [](mend::Session& session) {
    count(session, 10, [&](long step) {
      if (step == 5 && session.rank().value == 1) die();
    });
  };
  all["dies_after_each_commit"] = [](mend::Session& session) {
    const bool dies = session.rank().value == 1;
    long at_entry = -1;
    count(session, 1000, [&](long step) {
      if (at_entry < 0) at_entry = step;
      if (dies && step == at_entry + 1) die();
    });
  };
  all["another_rank_dies_after_each_commit"] = [](mend::Session& session) {
    const long epoch = static_cast<long>(session.epoch().value);
    long at_entry = -1;
    count(session, 1000, [&](long step) {
      if (at_entry < 0) at_entry = step;
      if (epoch < 8 && epoch % session.size() == session.rank().value && step == at_entry + 1) die();
    });
  };
  all["started_processes_die_in_large_commits"] = [](mend::Session& session) {
    long step = 0;
    std::vector<double> field(750'000, session.rank().value);
    session.store().protect("step", step);
    session.store().protect("field", field);
    session.store().restore();
    const int epoch = static_cast<int>(session.epoch().value);
    while (step < 20) {
      for (double& value : field) value += 1;
      ++step;
      const bool dies = epoch < 8 && step == 2 * (epoch + 1) && session.rank().value == epoch * 3 % session.size();
      mend::on_fault_point([dies](std::string_view point) {
        if (dies && point == "commit.exchange") die();
      });
      session.store().commit();
    }
    const bool same = std::ranges::all_of(field, [&](double value) { return value == field.front(); });
    say(session, fmt::format("value {} {} in epoch {}", field.front(), same ? "everywhere" : "here and there", epoch));
  };
  // Few pages of a large table change in a step, by this rank's writes and by a message that MPI writes there.
  all["ranks_die_while_a_table_changes_here_and_there"] = [](mend::Session& session) {
    constexpr int length = 7'000;
    constexpr int steps = 120;
    const int rank = session.rank().value;
    int step = 0;
    std::vector<double> table(600'000, rank);
    session.store().protect("step", step);
    session.store().protect("table", table);
    session.store().restore();
    const int epoch = static_cast<int>(session.epoch().value);
    const auto at = [&](int number) { return static_cast<std::size_t>(number) * 7919 % (table.size() - length); };
    while (step < steps) {
      if (epoch < 3 && step == 30 * (epoch + 1) && rank == epoch) die();
      for (int i = 0; i < 5; ++i) table[at(step * 5 + i + rank)] += step;
      MPI_Sendrecv(&table[at(3 * step)], length, MPI_DOUBLE, (rank + 1) % session.size(), 0, &table[at(3 * step + 1)],
                   length, MPI_DOUBLE, (rank + session.size() - 1) % session.size(), 0, session.comm(),
                   MPI_STATUS_IGNORE);
      ++step;
      if (session.commit_due()) session.store().commit();
    }
    say(session, fmt::format("sum {:a} in epoch {}", std::accumulate(table.begin(), table.end(), 0.0), epoch));
  };
  // Rank 1 holds the copy of rank 0's data, and does not have enough memory for it.
  all["a_rank_has_no_memory_for_the_copy_it_is_to_hold"] = [](mend::Session& session) {
    long step = 0;
    std::vector<double> field(session.rank() == mend::Rank{0} ? 8 << 20 : 10, 1);
    session.store().protect("step", step);
    session.store().protect("field", field);
    session.store().restore();
    if (is_first(session, 1)) {
      long pages = 0;
      std::ifstream("/proc/self/statm") >> pages;
      const rlimit limit{static_cast<rlim_t>(pages * ::sysconf(_SC_PAGESIZE)) + (16 << 20), RLIM_INFINITY};
      ::setrlimit(RLIMIT_AS, &limit);
    }
    for (; step < 3; session.store().commit()) {
      ++step;
      MPI_Barrier(session.comm());
    }
    say(session, fmt::format("step {} in epoch {}", step, session.epoch().value));
  };
  // One member has more bytes than an int can count. Its rank dies, then the holder of its copy, then its rank again.
  all["ranks_die_with_a_member_of_more_than_2_GiB"] = [](mend::Session& session) {
    const auto value = [](std::uint64_t i, std::uint64_t step) { return (i + 1) * 0x9e3779b97f4a7c15U ^ step; };
    std::uint64_t step = 0;
    std::vector<std::uint64_t> large(session.rank() == mend::Rank{1} ? 275'000'000 : 1'000);
    session.store().protect("step", step);
    session.store().protect("large", large);
    session.store().restore();
    const std::uint64_t epoch = session.epoch().value;
    std::size_t wrong = 0;
    for (std::uint64_t i = 0; epoch > 0 && i < large.size(); ++i) wrong += large[i] == value(i, step) ? 0U : 1U;
    if (epoch > 0) say(session, fmt::format("epoch {}: step {}, {} of {} wrong", epoch, step, wrong, large.size()));
    if (epoch == 3) return;
    const auto advance = [&] {
      ++step;
      for (std::uint64_t i = 0; i < large.size(); ++i) large[i] = value(i, step);
    };
    advance();
    session.store().commit();
    advance();
    session.store().commit();
    advance();
    if (session.rank() == mend::Rank{epoch == 1 ? 0 : 1}) die();
    MPI_Barrier(session.comm());
  };
  all["never_commits"] = [](mend::Session& session) {
    long sum = 0;
    session.store().protect("sum", sum);
    const auto version = session.store().restore();
    for (int i = 0; i < 10; ++i) {
      if (i == 5 && is_first(session, 1)) die();
      const long one = 1;
      long all_ones = 0;
      MPI_Allreduce(&one, &all_ones, 1, MPI_LONG, MPI_SUM, session.comm());
      sum += all_ones;
    }
    say(session, fmt::format("sum {} from version {}", sum, version.value));
  };
  all["never_restores"] = [](mend::Session& session) {
    long step = 0;
    session.store().protect("step", step);
    for (int i = 0; i < 4; ++i) {
      if (i == 2 && is_first(session, 1)) die();
      ++step;
      session.store().commit();
    }
    say(session, fmt::format("step {} is version {}", step, session.store().version().value));
  };
  all["protects_another_shape_after_the_failure"] = [](mend::Session& session) {
    std::vector<double> values(session.epoch() == mend::Epoch{0} ? 10 : 11);
    session.store().protect("values", std::span(values));
    session.store().restore();
    session.store().commit();
    if (is_first(session, 1)) die();
    MPI_Barrier(session.comm());
  };
  all["restores_twice"] = [](mend::Session& session) {
    long value = session.rank().value;
    session.store().protect("value", value);
    session.store().restore();
    session.store().commit();
    if (is_first(session, 2)) die();
    if (session.epoch() == mend::Epoch{0}) MPI_Barrier(session.comm());
    value = -1;
    session.store().restore();
    value = -1;
    session.store().restore();
    say(session, fmt::format("value {}", value));
  };
  all["commits_when_due"] = [](mend::Session& session) {
    count(session, 60, [&](long step) {
      if (step == 40 && is_first(session, 1)) die();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    });
    say(session, fmt::format("version {}", session.store().version().value));
  };
  for (const bool dies : {false, true}) {
    all[dies ? "reports_after_a_death" : "reports"] = [dies](mend::Session& session) {
      count(session, 10, [&](long step) {
        if (dies && step == 5 && is_first(session, 1)) die();
      });
      const std::vector<int> answer(3, session.rank().value);
      session.report("steps", 10);
      session.report("norm", 0.1);
      session.report("ratio", -std::numeric_limits<double>::infinity());
      session.report("scheme", "counting");
      session.report_hash(answer);
    };
  }
  all["reports_while_rank_1_commits"] = [](mend::Session& session) {
    if (session.rank().value == 1) session.store().commit();
  };
  all["tells_its_role"] = [](mend::Session& session) {
    MPI_Barrier(session.comm());
    if (is_first(session, 1)) die();
    if (session.epoch() == mend::Epoch{0}) MPI_Barrier(session.comm());
    const char* role = session.role() == mend::Role::newcomer ? "newcomer" : "survivor";
    const auto recoveries = session.recoveries();
    say(session, fmt::format("{} process {} predecessors {} recoveries {} dead {}", role, session.process().value,
                             session.predecessors(), recoveries.size(), recoveries.back().dead.front().value));
  };
  all["tells_of_its_last_recovery"] = [](mend::Session& session) {
    if (is_first(session, 1)) die();
    MPI_Barrier(session.comm());
    const mend::RecoveryReport& recovery = session.recoveries().back();
    say(session, fmt::format("epoch {} rounds {} dead {} new {}", recovery.epoch.value, recovery.rounds,
                             recovery.dead.size(), recovery.replacements.size()));
  };
  all["checks_while_computing"] = [](mend::Session& session) {
    if (is_first(session, 1)) die();
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (session.epoch() == mend::Epoch{0}) {
      session.check();
      if (std::chrono::steady_clock::now() > until) throw std::runtime_error("check() never noticed the death");
    }
    say(session, "noticed without calling MPI");
  };
  return all;
}

}  // namespace subject
