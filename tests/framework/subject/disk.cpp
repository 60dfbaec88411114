// Bodies that write checkpoints to disk, and continue from those of an earlier job.

#include "tests/framework/subject/subject.hpp"

#include "base/fault_point.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace subject {
namespace {

constexpr std::size_t table_rows = 29;
constexpr std::size_t table_columns = 11;

/// The part of the table that rank `self` of `ranks` has.
struct Share {
  std::size_t first;
  std::vector<std::uint64_t> cells;

  Share(int self, int ranks)
      : first(begin_of(self, ranks)), cells((begin_of(self + 1, ranks) - first) * table_columns, 1) {}
  static std::size_t begin_of(int rank, int ranks) {
    return table_rows * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks);
  }

  void advance(int step) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      cells[i] = cells[i] * 6364136223846793005U + (first * table_columns + i) * 1442695040888963407U +
                 static_cast<std::uint64_t>(step);
    }
  }
  /// Does not depend on how the table is distributed.
  std::uint64_t hash(MPI_Comm comm) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < cells.size(); ++i)
      sum += (cells[i] ^ (cells[i] >> 29)) * (2 * (first * table_columns + i) + 1);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, comm);
    return sum;
  }
};

const char* name_of(mend::Origin origin) {
  switch (origin) {
    case mend::Origin::nowhere: return "nowhere";
    case mend::Origin::memory: return "memory";
    case mend::Origin::disk: return "disk";
  }
  return "?";
}

void protect(mend::Session& session, Share& share, int& step) {
  session.store().protect("table", mend::part(share.cells, {table_rows, table_columns}, {share.first, 0},
                                              {share.cells.size() / table_columns, table_columns}));
  session.store().protect("step", mend::replicated(step));
}

}  // namespace

mend::Body evolve_a_table(std::string_view what) {
  const auto semicolon = std::min(what.find(';'), what.size());
  const auto at = std::min(what.find('@'), what.size());
  const int steps = std::stoi(std::string(what.substr(0, semicolon)));
  const int victim = at < what.size() ? std::stoi(std::string(what.substr(semicolon + 1, at - semicolon - 1))) : -1;
  const std::string_view where = at < what.size() ? what.substr(at + 1) : std::string_view();
  const std::string place(where.substr(0, where.find('+')));
  const int passes =
      where.find('+') == std::string_view::npos ? 0 : std::stoi(std::string(where.substr(where.find('+') + 1)));
  return [=](mend::Session& session) {
    if (is_first(session, victim)) {
      mend::on_fault_point([place, left = passes](std::string_view point) mutable {
        if (point == place && left-- == 0) die();
      });
    }
    int rank = 0;
    int ranks = 0;  // some of which may have been given up
    MPI_Comm_rank(session.comm(), &rank);
    MPI_Comm_size(session.comm(), &ranks);
    Share share(rank, ranks);
    int step = 0;
    protect(session, share, step);
    const mend::Version from = session.store().restore();
    const char* origin = name_of(session.store().restored_from());
    while (step < steps) {
      share.advance(++step);
      if (session.commit_due()) session.store().commit();
      // Steps are much faster than a disk, so wait for it from time to time.
      if (step % 8 == 0) session.store().finish_disk();
    }
    const std::uint64_t hash = share.hash(session.comm());
    say(session, fmt::format("step {} in epoch {} from {}: {:016x}", step, session.epoch().value,
                             from == mend::Version{} ? "nothing" : origin, hash));
  };
}

Scenarios disk_scenarios() {
  Scenarios all;
  all["protects_rank_by_rank"] = [](mend::Session& session) {
    long own = session.rank().value;
    session.store().protect("own", own);
    session.store().restore();
    session.store().commit();
    say(session, fmt::format("own {}", own));
  };
  all["dies_while_the_rest_is_saved"] = [](mend::Session& session) {
    long own = 0;
    session.store().protect("own", own);
    if (const mend::Version version = session.store().restore(); version != mend::Version{}) {
      return say(session, fmt::format("{} of version {}", own, version.value));
    }
    if (is_first(session, 3)) {
      mend::on_fault_point([](std::string_view point) {
        if (point == "disk.save") die();
      });
    }
    for (int version = 1; version <= 3; ++version) {
      own = 10 * version + session.rank().value;
      session.store().commit();
    }
    if (session.rank() == mend::Rank{1}) die();
    MPI_Barrier(session.comm());
  };
  all["begins_anew"] = [](mend::Session& session) {
    int value = 0;
    session.store().protect("value", value);
    // The first process of all dies before anything is written.
    const int commits = session.epoch() == mend::Epoch{0} ? 1 : 7;
    for (int i = 0; i < commits; ++i) {
      session.store().commit();
      session.store().finish_disk();
    }
    if (commits == 1 && session.rank() == mend::Rank{0}) die();
    MPI_Barrier(session.comm());
    say(session, fmt::format("version {}", session.store().version().value));
  };
  all["commits_faster_than_the_disk"] = [](mend::Session& session) {
    static std::atomic<bool> may_go_on = false;
    mend::on_fault_point([](std::string_view point) {
      if (point == "disk.manifest") may_go_on.wait(false);
    });
    int value = 0;
    session.store().protect("value", value);
    for (; value < 10; ++value) session.store().commit();
    may_go_on = true;
    may_go_on.notify_all();
    session.store().finish_disk();
    say(session, fmt::format("version {}", session.store().version().value));
  };
  all["changes_its_folder"] = [](mend::Session& session) {
    long step = 0;
    session.store().protect("step", step);
    std::filesystem::current_path("/");
    for (step = 1; step <= 3; ++step) session.store().commit();
    session.store().finish_disk();
  };
  all["loses_its_disk"] = [](mend::Session& session) {
    Share share(session.rank().value, session.size());
    int step = 0;
    protect(session, share, step);
    session.store().restore();
    while (step < 20) {
      share.advance(++step);
      if (step == 10 && session.rank() == mend::Rank{0}) {
        const std::filesystem::path folder = std::getenv("MEND_TEST_FOLDER");
        const std::string no_folder = folder.string() + ".moved";
        std::ofstream(no_folder) << "no folder";
        // Atomically, so that the writer never finds the folder missing.
        if (::renameat2(AT_FDCWD, folder.c_str(), AT_FDCWD, no_folder.c_str(), RENAME_EXCHANGE) != 0) std::abort();
      }
      MPI_Barrier(session.comm());
      session.store().commit();
    }
    const std::uint64_t hash = share.hash(session.comm());
    say(session, fmt::format("step {}: {:016x}", step, hash));
  };
  return all;
}

}  // namespace subject
