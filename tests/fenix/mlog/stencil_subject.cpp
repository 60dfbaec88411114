// A program in C++ with two message logs, one for messages and one for collective calls, as Fenix's own example has
// one: recovered ranks restore and sync, the others go on in the call that they are in.
//
// The first argument:
//   autosync   FENIX_MLOG_RECOVERY_INLINE_AUTOSYNC
//   throw      exceptions: all repeat the region that they are in
//   arguments  as the first, after wrong ones were refused
//   any_source, call_not_covered, duplicate, same_tag, random, unsynced: what is refused

#include "../checks.h"
#include "../die.h"

#include <fenix.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

namespace data = fenix::data;
namespace mlog = fenix::mlog;

constexpr int group = 0;
constexpr int state_member = 0;
constexpr int cells_member = 1;
constexpr int halo_member = 2;
constexpr int sums_member = 3;
constexpr int halo_log = 2;
constexpr int sums_log = 5;
constexpr int every = 6;

struct State {
  int rank = -1;
  int step = 0;
};

MPI_Comm comm;
int size = 0;
State state;
std::vector<double> cells(300);
int steps = 30;
int computed = 0;
std::string mode;
bool is_random = false;

void define() {
  data::group_create(group);
  data::member_define(group, state_member, &state, 2, MPI_INT);
  data::member_define(group, cells_member, cells.data(), static_cast<int>(cells.size()), MPI_DOUBLE);
  mlog::define_data_member(halo_log, group, halo_member);
  mlog::define_data_member(sums_log, group, sums_member);
}

/// All ranks, before anything was committed.
void begin() {
  state = {rank, 0};
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = rank + static_cast<double>(i) / 9.0;
  if (fenix::role() != fenix::INITIAL_RANK) {
    mlog::sync(halo_log, 0);
    mlog::sync(sums_log, 0);
  }
  data::checkpoint(group, data::SUBSET_FULL, {halo_member, sums_member});
}

void restore() {
  define();
  die_at("restoring", 0, rank);
  if (data::group_snapshots(group)->empty()) return begin();
  data::member_restore(group, state_member);
  data::member_restore(group, cells_member);
  data::member_restore(group, halo_member);
  data::member_restore(group, sums_member);
  die_at("syncing", 0, rank);
  mlog::sync(halo_log, state.step);
  die_at("between", 0, rank);
  mlog::sync(sums_log, state.step);
}

/// Until this rank has its data.
void enter() {
  bool is_first = fenix::role() == fenix::INITIAL_RANK;
  for (;;) {
    try {
      if (!std::exchange(is_first, false)) return restore();
      data::group_create(group);
      data::member_create(group, state_member, &state, 2, MPI_INT);
      data::member_create(group, cells_member, cells.data(), static_cast<int>(cells.size()), MPI_DOUBLE);
      mlog::create_data_member(halo_log, group, halo_member);
      mlog::create_data_member(sums_log, group, sums_member);
      return begin();
    } catch (const fenix::CommException&) {
      // another failure: anew
    }
  }
}

/// What a rank that stays where it is does for those that come back. Who syncs is told by the mode.
void help(MPI_Comm /*repaired*/, int /*error*/) {
  die_at("calling_back", 0, rank);
  data::group_create(group);
  data::member_restore(group, state_member, nullptr, 0);
}

/// With exceptions, a rank begins its region anew.
void catch_up() {
  for (;;) {
    try {
      mlog::sync(halo_log, state.step);
      mlog::sync(sums_log, state.step);
      return;
    } catch (const fenix::CommException&) {
      // another failure: anew
    }
  }
}

std::vector<double> stepped() {
  std::vector<double> next = cells;
  const int left = (rank + size - 1) % size;
  const int right = (rank + 1) % size;
  std::array<double, 2> ghosts{};
  mlog::activate(halo_log, state.step);
  CHECK(mlog::active() == halo_log);
  const double out = cells.back() + (is_random ? 1e-3 * static_cast<double>(getpid()) : 0.0);
  die_at("exchanging", state.step, rank);
  MPI_Sendrecv(&out, 1, MPI_DOUBLE, right, 0, ghosts.data(), 1, MPI_DOUBLE, left, 0, comm, MPI_STATUS_IGNORE);
  die_at("exchanged", state.step, rank);
  MPI_Sendrecv(cells.data(), 1, MPI_DOUBLE, left, 0, &ghosts[1], 1, MPI_DOUBLE, right, 0, comm, MPI_STATUS_IGNORE);
  for (std::size_t i = 0; i < next.size(); ++i) {
    const double before = i == 0 ? ghosts[0] : cells[i - 1];
    const double after = i + 1 == next.size() ? ghosts[1] : cells[i + 1];
    next[i] = 0.5 * cells[i] + 0.3 * before + 0.15 * after + 1.0 / (state.step + 3.0);
  }
  mlog::activate(sums_log);
  mlog::begin_region(sums_log, state.step);
  die_at("summing", state.step, rank);
  double sum = 0;
  MPI_Allreduce(next.data(), &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  next[7] += sum / size;
  State of_root = state;
  MPI_Bcast(&of_root, 2, MPI_INT, state.step % size, comm);
  CHECK(of_root.rank == state.step % size && of_root.step == state.step);
  int latest = -1;
  MPI_Reduce(&state.step, &latest, 1, MPI_INT, MPI_MAX, state.step % size, comm);
  CHECK(latest == (rank == state.step % size ? state.step : -1));
  MPI_Barrier(comm);
  return next;
}

void commit() {
  const bool in_place = mode != "throw";
  // A commit that has happened here has happened everywhere.
  const auto last = [] { return data::group_snapshots(group)->front(); };
  const int before = last();
  do {
    try {
      die_at("committing", state.step, rank);
      data::checkpoint(group, data::SUBSET_FULL, {halo_member, sums_member});
    } catch (const fenix::CommException&) {
      CHECK(!in_place);
      catch_up();
    }
  } while (last() == before);
  die_at("committed", state.step, rank);
}

void compute() {
  while (state.step < steps) {
    try {
      cells = stepped();
    } catch (const fenix::CommException&) {
      CHECK(mode == "throw");
      catch_up();
      continue;
    }
    ++state.step;
    ++computed;
    if (state.step % every == 0) commit();
  }
}

/// What a log does not cover ends the job in a sentence.
void do_what_is_refused() {
  const std::vector<std::string> refused{"any_source", "call_not_covered", "duplicate", "same_tag"};
  if (std::find(refused.begin(), refused.end(), mode) == refused.end()) return;
  int number = 0;
  mlog::activate(halo_log, 0);
  if (mode == "any_source") MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE);
  MPI_Request request = MPI_REQUEST_NULL;
  if (mode == "call_not_covered") MPI_Psend_init(&number, 1, 1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &request);
  MPI_Comm copy = MPI_COMM_NULL;
  if (mode == "duplicate") MPI_Comm_dup(comm, &copy);
  if (mode == "same_tag") {
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 3, &number, 1, MPI_INT, (rank + size - 1) % size, 3, comm,
                 MPI_STATUS_IGNORE);
    mlog::activate(sums_log, 0);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 3, comm);
  }
}

template <class Call>
int thrown_by(const Call& call) {
  try {
    call();
    return FENIX_SUCCESS;
  } catch (const fenix::RuntimeException& error) {
    return error.error;
  }
}

void check_arguments() {
  constexpr int other = 9;
  CHECK(thrown_by([] { mlog::create(halo_log, comm, 2); }) == FENIX_ERROR_MLOG_EXISTS);
  CHECK(thrown_by([] { mlog::create(other, comm, 0); }) == FENIX_ERROR_INVALID_DEPTH);
  CHECK(thrown_by([] { mlog::create(-1, comm, 2); }) == FENIX_ERROR_INVALID_MLOGID);
  MPI_Comm self = MPI_COMM_SELF;
  CHECK(thrown_by([&] { mlog::create(other, self, 2); }) == FENIX_ERROR_INVALID_LOGIC_CALL);
  CHECK(thrown_by([] { mlog::activate(other); }) == FENIX_ERROR_INVALID_MLOGID && mlog::active() == FENIX_MLOG_NONE);
  CHECK(thrown_by([] { mlog::activate(other, 1); }) == FENIX_ERROR_INVALID_MLOGID);
  CHECK(thrown_by([] { mlog::sync(other); }) == FENIX_ERROR_INVALID_MLOGID);
  CHECK(thrown_by([] { mlog::begin_region(halo_log, -1); }) == FENIX_ERROR_INVALID_LOGIC_CALL);
  CHECK(thrown_by([] { mlog::create_data_member(other, group, 8); }) == FENIX_ERROR_INVALID_MLOGID);
  mlog::create(other, comm, 2);
  mlog::begin_region(other, 4);
  mlog::begin_region(other, 4);  // it has no messages
  CHECK(thrown_by([] { mlog::begin_region(other, 3); }) == FENIX_ERROR_INVALID_LOGIC_CALL);
  mlog::activate(other);
  mlog::mlog_delete(other);
  CHECK(mlog::active() == FENIX_MLOG_NONE && thrown_by([] { mlog::mlog_delete(other); }) == FENIX_ERROR_INVALID_MLOGID);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  read_deaths(argc, argv);
  mode = argc > 1 ? argv[1] : "autosync";
  is_random = mode == "random";
  int spares = 1;
  for (int i = 2; i < argc; ++i) {
    if (std::strncmp(argv[i], "--spares=", 9) == 0) spares = std::atoi(argv[i] + 9);
    if (std::strncmp(argv[i], "--steps=", 8) == 0) steps = std::atoi(argv[i] + 8);
  }
  die_after(argc, argv);
  fenix::init({.out_comm = &comm, .argc = &argc, .argv = &argv, .spares = spares});
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  mlog::create(halo_log, comm, every + 1);
  mlog::create(sums_log, comm, every + 1);
  if (mode == "arguments") check_arguments();
  enter();
  CHECK(state.rank == rank);
  do_what_is_refused();
  fenix::callback_register(&help);
  const bool syncs = mode == "autosync" || mode == "arguments" || mode == "random";
  if (syncs) fenix::set_option(fenix::MLOG_RECOVERY_MODE, fenix::INLINE_AUTOSYNC);
  if (mode == "unsynced") fenix::set_option(fenix::MLOG_RECOVERY_MODE, fenix::INLINE);
  compute();
  die_at("finishing", state.step, rank);
  live_on();
  while (!fenix::finalized()) {
    try {
      Fenix_Finalize();
    } catch (const fenix::CommException&) {
      catch_up();
    }
  }
  std::uint64_t bits = 0;
  for (const double cell : cells) {
    std::uint64_t one = 0;
    std::memcpy(&one, &cell, sizeof one);
    bits = bits * 1099511628211U + one;
  }
  std::printf("rank %d: %016llx after %d steps, %d checks failed\n", rank, static_cast<unsigned long long>(bits),
              computed, failed);
  MPI_Finalize();
}
