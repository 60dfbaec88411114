// A program for Fenix that keeps three snapshots of members of every kind, and compares each element of each snapshot
// with what it has to be, after every failure and at the end. A process is killed at a fault point of mend's or at
// "storing" (--kill=POINT:NTH:PROCESS), or after some time (--die-after=PROCESS:MICROSECONDS).
//
//     history MODE SPARES STEPS [--kill=...] [--die-after=...]
//
// When data is lost, because a rank and the one that held its copy have died together, it begins anew. Time stamps go
// on. MODE is accumulate, fresh, or parity, which is fresh with parities in place of copies.

#include "base/fault_point.hpp"
#include "tests/fenix/mortal.hpp"

#include <fenix.hpp>

#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int group_id = 3;
constexpr int depth = 2;
constexpr int big_id = 1, strided_id = 2, growing_id = 3, step_id = 4, seldom_id = 5, written_id = 6;
constexpr std::size_t big_count = 300'000;  // beyond the caches, and a large page
constexpr std::size_t strided_count = 5000;
constexpr long stride = 7;
constexpr long every = 3;  // steps between two stores of what is stored seldom

bool accumulates = false;
std::array<int, 3> policy{1, 1, 0};
int me = 0;  // the rank whose data this is
long wrong = 0;
long compared = 0;
long missing_snapshots = 0;
int first_stamp = 0;  // of step 0

std::vector<double> big(big_count);
std::vector<int> strided(strided_count);
std::vector<int> growing(4000);
long step = 0;
std::vector<double> seldom(3000);
std::vector<int> written(40);

// --- what has to be ----------------------------------------------------------------------------------------------

double big_at(long when, std::size_t i) {
  return static_cast<double>(me) * 1e9 + static_cast<double>(when) * 1e6 + static_cast<double>(i);
}
int strided_at(long when, std::size_t i) {
  return static_cast<int>(me * 100'000'000 + when * 10'000 + static_cast<long>(i));
}
std::size_t growing_count(long when) { return 1000 + 277 * static_cast<std::size_t>(when % 9); }
int growing_at(long when, std::size_t i) { return static_cast<int>(when * 5003 + static_cast<long>(i) * 3 + me); }
int written_at(long when, std::size_t i) { return static_cast<int>(when * 41 + static_cast<long>(i) + me); }

/// The last step up to `when` in which element i of the strided member was stored; -1 if there is none.
long strided_step(long when, std::size_t i) {
  const long phase = static_cast<long>(i) % stride;
  const long since = ((when - phase) % stride + stride) % stride;
  return when - since;
}

template <class Value, class Right>
void compare(const std::vector<Value>& values, std::size_t count, const Right& right) {
  compared += static_cast<long>(count);
  for (std::size_t i = 0; i < count; ++i) wrong += values[i] == right(i) ? 0 : 1;
}

void check(bool is_so, const char* what) {
  if (is_so) return;
  ++wrong;
  std::fprintf(stderr, "rank %d, step %ld: %s\n", me, step, what);
}

/// Loads a member and returns Fenix's code.
template <class Value>
int load(int id, std::vector<Value>& values, int stamp, fenix::DataSubset& found) {
  std::ranges::fill(values, Value{-1});
  try {
    return fenix::data::member_load(group_id, id, values.data(), static_cast<int>(values.size()), stamp, found);
  } catch (const fenix::RuntimeException&) {
    return FENIX_ERROR_NODATA_FOUND;
  }
}

int stamp_of(long when) { return first_stamp + static_cast<int>(when); }

void check_snapshot(long when) {
  const int stamp = stamp_of(when);
  fenix::DataSubset found;
  std::vector<double> doubles(big_count);
  check(load(big_id, doubles, stamp, found) == FENIX_SUCCESS, "the large member is not whole");
  compare(doubles, big_count, [&](std::size_t i) { return big_at(when, i); });

  std::vector<int> ints(strided_count);
  const int of_strided = load(strided_id, ints, stamp, found);
  check(of_strided == (accumulates && when >= stride - 1 ? FENIX_SUCCESS : FENIX_WARNING_PARTIAL_RESTORE),
        "the strided member has other elements than were stored");
  compare(ints, strided_count, [&](std::size_t i) {
    const long stored = strided_step(when, i);
    return stored < 0 || (!accumulates && stored != when) ? -1 : strided_at(stored, i);
  });

  std::vector<int> chars(growing_count(when));
  load(growing_id, chars, stamp, found);
  compare(chars, chars.size(), [&](std::size_t i) { return growing_at(when, i); });

  const long last = when / every * every;
  std::vector<double> rare(seldom.size());
  const int of_rare = load(seldom_id, rare, stamp, found);
  if (accumulates || last == when) {
    check(of_rare == FENIX_SUCCESS, "what is stored seldom is not whole");
    compare(rare, rare.size(), [&](std::size_t i) { return big_at(last, i + 17); });
  } else {
    check(of_rare == FENIX_ERROR_NODATA_FOUND, "what was not stored is found");
  }

  std::vector<int> by_function(written.size());
  check(load(written_id, by_function, stamp, found) == FENIX_SUCCESS, "the written member is not whole");
  compare(by_function, by_function.size(), [&](std::size_t i) { return written_at(when, i); });
  std::vector<long> number(1);
  check(load(step_id, number, stamp, found) == FENIX_SUCCESS && number[0] == when, "it is another step");
}

/// Of the snapshots that are kept, newest first, when `newest` is the newest.
void check_all(long newest) {
  const auto stamps = fenix::data::group_snapshots(group_id).value();
  const auto expected = std::min<std::size_t>(depth + 1, static_cast<std::size_t>(newest + 1));
  missing_snapshots += static_cast<long>(expected) - static_cast<long>(stamps.size());
  for (std::size_t i = 0; i < stamps.size(); ++i) {
    const long when = newest - static_cast<long>(i);
    check(stamps[i] == stamp_of(when), "the time stamps are others");
    check_snapshot(when);
  }
}

// --- the program -------------------------------------------------------------------------------------------------

void write_or_read(std::iostream& stream, int direction, void* buffer, int first, int count) {
  auto* elements = static_cast<char*>(buffer) + static_cast<std::size_t>(first) * sizeof(int);
  const auto bytes = static_cast<std::streamsize>(static_cast<std::size_t>(count) * sizeof(int));
  if (direction == FENIX_SERIALIZE) {
    stream.write(elements, bytes);
  } else {
    stream.read(elements, bytes);
  }
}

/// On every entry: a process that has taken over does not know where its members are.
void define_members() {
  fenix::data::member_define(group_id, big_id, big.data(), static_cast<int>(big.size()), MPI_DOUBLE);
  fenix::data::member_define(group_id, strided_id, strided.data(), static_cast<int>(strided.size()), MPI_INT);
  fenix::data::member_define(group_id, growing_id, growing.data(), FENIX_RESIZEABLE, MPI_INT);
  fenix::data::member_define(group_id, step_id, &step, 1, MPI_LONG);
  fenix::data::member_define(group_id, seldom_id, seldom.data(), static_cast<int>(seldom.size()), MPI_DOUBLE);
  fenix::data::member_define(group_id, written_id, written.data(), static_cast<int>(written.size()), MPI_INT,
                             fenix::data::SerializeStreamFunc(write_or_read));
}

void store_all() {
  for (std::size_t i = 0; i < big.size(); ++i) big[i] = big_at(step, i);
  fenix::data::member_store(group_id, big_id);
  std::ranges::fill(big, -3);  // a store takes a copy
  mend::reach("storing");
  for (std::size_t i = 0; i < strided.size(); ++i) strided[i] = strided_at(step, i);
  const auto phase = static_cast<std::size_t>(step % stride);
  fenix::data::member_store(group_id, strided_id,
                            fenix::DataSubset({phase, phase}, (strided_count - phase + stride - 1) / stride, stride));
  for (std::size_t i = 0; i < growing.size(); ++i) growing[i] = growing_at(step, i);
  fenix::data::member_store(group_id, growing_id, fenix::DataSubset({0, growing_count(step) / 2}));
  fenix::data::member_store(group_id, growing_id, fenix::DataSubset({0, growing_count(step) - 1}));
  fenix::data::member_store(group_id, step_id);
  if (step % every == 0) {
    for (std::size_t i = 0; i < seldom.size(); ++i) seldom[i] = big_at(step, i + 17);
    fenix::data::member_stage(group_id, seldom_id);
  }
  for (std::size_t i = 0; i < written.size(); ++i) written[i] = written_at(step, i);
  fenix::data::member_store(group_id, written_id);
}

void run(MPI_Comm comm, long steps) {
  fenix::data::group_create(group_id, {.comm = comm, .depth = depth, .policy_value = policy.data()});
  define_members();
  const auto stamps = fenix::data::group_snapshots(group_id).value();
  if (!stamps.empty()) {
    fenix::data::member_restore(group_id, step_id);
    first_stamp = stamps.front() - static_cast<int>(step);
    check_all(step);
  }
  for (step = stamps.empty() ? 0 : step + 1; step < steps; ++step) {
    store_all();
    int stamp = 0;
    const long now = step;
    fenix::data::commit(group_id, &stamp);
    if (now == 0) first_stamp = stamp;
    check(stamp == stamp_of(now), "the time stamp is another");
    if (step % 16 == 5) check_all(step);
    MPI_Barrier(comm);
  }
  check_all(steps - 1);
}

// --- deaths ------------------------------------------------------------------------------------------------------

void read_deaths(int argc, char** argv) {
  int process = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  struct Kill {
    std::string point;
    int left;
  };
  static std::vector<Kill> kills;
  for (int i = 1; i < argc; ++i) {
    char point[64];
    int nth = 0;
    int who = 0;
    if (std::sscanf(argv[i], "--kill=%63[^:]:%d:%d", point, &nth, &who) == 3 && who == process)
      kills.push_back({point, nth});
    long microseconds = 0;
    if (std::sscanf(argv[i], "--die-after=%d:%ld", &who, &microseconds) == 2 && who == process)
      die_in(std::chrono::microseconds(microseconds));
  }
  if (kills.empty()) return;
  mend::on_fault_point([](std::string_view point) {
    for (Kill& kill : kills) {
      if (kill.point == point && --kill.left == 0) ::kill(::getpid(), SIGKILL);
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string mode = argv[1];
  accumulates = mode == "accumulate";
  if (mode == "parity") policy = {5, 1, 4};
  const long steps = std::atol(argv[3]);
  MPI_Comm comm = MPI_COMM_NULL;
  fenix::args::FenixInitArgs arguments;
  arguments.out_comm = &comm;
  arguments.spares = std::atoi(argv[2]);
  read_deaths(argc, argv);
  if (accumulates) {
    Fenix::init(arguments);
  } else {
    fenix::init(arguments);
  }
  MPI_Comm_rank(comm, &me);
  for (;;) {
    try {
      run(comm, steps);
      live_on();
      Fenix_Finalize();
      break;
    } catch (const fenix::CommException&) {
    }
  }
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  check(compared > 0, "nothing was compared");
  if (rank == 0) std::printf("began at time stamp %d\n", first_stamp);
  std::printf("rank %d: %ld elements wrong, %ld snapshots missing\n", rank, wrong, missing_snapshots);
  std::fflush(stdout);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
