// Commits and restores of the same bytes through fenix.h, through the interface for C, and by the store itself. Started
// by mend run with the number of ranks to measure, and with a spare for each restore. Spares get memory ready after the
// first commit through mend.h, which takes the cores from others; so commits are measured without any:
//
//     mend run -n 2 -- bench_fenix
//     mend run -n 2 --spares 9 -- bench_fenix --rounds 0 --deaths 9
//
// All are in one job, and measured in turn: what disturbs the machine disturbs them alike. Before each restore a rank
// is killed, and a spare takes over.

#include "bench/command_line.hpp"
#include "base/clock.hpp"
#include "base/median.hpp"
#include "fenix/data/group.hpp"
#include "fenix/process/job.hpp"
#include "framework/session.hpp"
#include "store/engine/store_engine.hpp"

#include <fenix.hpp>
#include <mend.h>

#include <fmt/format.h>
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using mend::Milliseconds;

void require(bool is_so, const char* what) {
  if (is_so) return;
  fmt::print(stderr, "bench_fenix: {}\n", what);
  std::abort();
}

/// One way to keep a rank's bytes, and how long its commits and restores took.
class Contestant {
 public:
  Contestant(std::string name, std::size_t bytes) : name_(std::move(name)), data_(bytes, std::byte{1}) {}
  virtual ~Contestant() = default;
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;

  const std::string& name() const { return name_; }
  std::vector<std::byte>& data() { return data_; }

  /// Says what is kept, in each epoch before anything else.
  virtual void begin() = 0;
  virtual void commit() = 0;
  virtual void restore() = 0;
  /// Waits until what a restore sends behind has come.
  virtual void finish() = 0;
  /// Ends that.
  virtual void end() {}

  std::vector<Milliseconds> commits{};
  std::vector<Milliseconds> restores{};

 private:
  std::string name_;
  std::vector<std::byte> data_;
};

class OfStore final : public Contestant {
 public:
  explicit OfStore(std::size_t bytes) : Contestant("C++ store", bytes) {}
  void begin() override {
    mend::fenix::state().engine().take_into_epoch(store_);
    store_.protect("data", data());
  }
  void commit() override { store_.commit(); }
  void restore() override { store_.restore(); }
  void finish() override { store_.finish_commit(); }
  void end() override { store_.end_epoch(); }

 private:
  mend::StoreEngine store_;
};

class InC final : public Contestant {
 public:
  explicit InC(std::size_t bytes) : Contestant("mend.h", bytes) {}
  void begin() override {
    if (!session_) session_.emplace(mend::fenix::state().engine());
    require(mend_protect(handle(), "data", data().data(), data().size()) == MEND_SUCCESS, "mend_protect has failed");
  }
  void commit() override { require(mend_commit(handle(), nullptr) == MEND_SUCCESS, "mend_commit has failed"); }
  void restore() override { require(mend_restore(handle(), nullptr) == MEND_SUCCESS, "mend_restore has failed"); }
  void finish() override {
    require(mend_finish_commit(handle(), nullptr) == MEND_SUCCESS, "mend_finish_commit has failed");
  }
  void end() override { require(mend_unprotect(handle(), "data") == MEND_SUCCESS, "mend_unprotect has failed"); }

 private:
  mend_session* handle() { return reinterpret_cast<mend_session*>(&*session_); }
  std::optional<mend::Session> session_;
};

class OfFenix final : public Contestant {
 public:
  enum class Size { fixed, resizable };
  OfFenix(std::string name, std::size_t bytes, int group, int depth, Size size = Size::fixed)
      : Contestant(std::move(name), bytes), group_(group), depth_(depth), size_(size) {}
  void begin() override {
    if (fenix::data::group_created(group_)) return;
    create();
    const int count = size_ == Size::fixed ? static_cast<int>(data().size()) : FENIX_RESIZEABLE;
    fenix::data::member_create(group_, 0, data().data(), count, MPI_BYTE);
  }
  void commit() override {
    fenix::data::member_store(group_, 0, fenix::DataSubset({0, data().size() - 1}));
    fenix::data::commit(group_);
  }
  void restore() override {
    create();
    const int code = fenix::data::member_restore(group_, 0, data().data(), static_cast<int>(data().size()));
    require(code == FENIX_SUCCESS, "Fenix_Data_member_restore has failed");
  }
  void finish() override { mend::fenix::state().groups.at(group_)->finish_copies(); }
  void end() override { fenix::data::group_delete(group_); }

 private:
  void create() {
    int flag = 0;
    fenix::data::group_create(group_, mend::fenix::state().engine().epoch_state().application.get(), 0, depth_,
                              FENIX_DATA_POLICY_IMR, nullptr, &flag);
  }
  int group_;
  int depth_;
  Size size_;
};

using Contestants = std::vector<std::unique_ptr<Contestant>>;

Contestants all(std::size_t bytes) {
  Contestants all;
  all.push_back(std::make_unique<OfStore>(bytes));
  all.push_back(std::make_unique<InC>(bytes));
  all.push_back(std::make_unique<OfFenix>("fenix.h, depth 0", bytes, 1, 0));
  all.push_back(std::make_unique<OfFenix>("fenix.h, depth 1", bytes, 2, 1));
  all.push_back(std::make_unique<OfFenix>("  resizable", bytes, 3, 0, OfFenix::Size::resizable));
  return all;
}

/// As the slowest rank sees it.
template <class Work>
Milliseconds measure(MPI_Comm comm, const Work& work) {
  MPI_Barrier(comm);
  const mend::Stopwatch watch;
  work();
  double time = Milliseconds(watch.elapsed()).count();
  MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, comm);
  return Milliseconds{time};
}

/// Calls work(contestant) for each, in an order in which each comes first as often as the others.
template <class Work>
void in_turn(Contestants& contestants, int round, const Work& work) {
  for (std::size_t turn = 0; turn < contestants.size(); ++turn)
    work(*contestants[(turn + static_cast<std::size_t>(round)) % contestants.size()]);
}

constexpr int first_ones = 6;  // by then every version has its memory

std::byte value_of(int rank, int round) { return static_cast<std::byte>(3 * rank + round + 1); }

void measure_commits(MPI_Comm comm, int rounds, double mebibytes) {
  Contestants contestants = all(static_cast<std::size_t>(mebibytes * (1 << 20)));
  for (const auto& contestant : contestants) contestant->begin();
  for (int round = 0; round < first_ones + rounds; ++round) {
    in_turn(contestants, round, [&](Contestant& contestant) {
      std::ranges::fill(contestant.data(), value_of(0, round));  // everything has changed
      contestant.commits.push_back(measure(comm, [&] { contestant.commit(); }));
    });
  }
  for (const auto& contestant : contestants) contestant->end();
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank != 0) return;
  const auto later = [](const Contestant& c) { return std::vector(c.commits.begin() + first_ones, c.commits.end()); };
  const Milliseconds of_store = mend::median(later(*contestants.front()));
  fmt::print("commit of {:g} MiB a rank: medians of {} rounds after {} first ones\n", mebibytes, rounds, first_ones);
  fmt::print("{:18} {:>9} {:>9} {:>13} {:>11} {:>14}\n", "", "ms", "of store", "slowest first", "of its own",
             "first ones, ms");
  for (const auto& contestant : contestants) {
    const Milliseconds middle = mend::median(later(*contestant));
    const auto first_end = contestant->commits.begin() + first_ones;
    const Milliseconds slowest = *std::max_element(contestant->commits.begin(), first_end);
    fmt::print("{:18} {:9.2f} {:9.2f} {:13.2f} {:11.2f}   ", contestant->name(), middle.count(), middle / of_store,
               slowest.count(), slowest / middle);
    for (auto first = contestant->commits.begin(); first != first_end; ++first) fmt::print(" {:.1f}", first->count());
    fmt::print("\n");
  }
}

/// Kills rank 1 once for each spare; what it and the others have committed comes back before the next.
class Restores {
 public:
  explicit Restores(double mebibytes) : contestants_(all(static_cast<std::size_t>(mebibytes * (1 << 20)))) {}

  /// Until no spare is left.
  void go_on(MPI_Comm comm, int spares) {
    const int killed = spares - fenix::nspare();
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    if (killed == 0 && is_new_) {
      for (const auto& contestant : contestants_) contestant->begin();
    } else {
      restore(comm, rank, killed);
    }
    is_new_ = false;
    for (int commit = 0; commit < 3; ++commit) {
      for (const auto& contestant : contestants_) {
        std::ranges::fill(contestant->data(), value_of(rank, killed));
        contestant->commit();
      }
    }
    MPI_Barrier(comm);
    if (fenix::nspare() == 0) return;
    if (rank == 1) ::kill(::getpid(), SIGKILL);
    for (;;) MPI_Barrier(comm);  // left by the failure
  }

  void end() {
    for (const auto& contestant : contestants_) contestant->end();
  }

  void print(double mebibytes) const {
    if (contestants_.front()->restores.empty()) return;
    const Milliseconds of_store = mend::median(contestants_.front()->restores);
    fmt::print("restore of {:g} MiB a rank to a spare and the survivors: medians of {} deaths\n", mebibytes,
               contestants_.front()->restores.size());
    fmt::print("{:18} {:>9} {:>9}\n", "", "ms", "of store");
    for (const auto& contestant : contestants_) {
      const Milliseconds middle = mend::median(contestant->restores);
      fmt::print("{:18} {:9.2f} {:9.2f}\n", contestant->name(), middle.count(), middle / of_store);
    }
  }

 private:
  void restore(MPI_Comm comm, int rank, int killed) {
    in_turn(contestants_, killed, [&](Contestant& contestant) {
      std::ranges::fill(contestant.data(), std::byte{});
      if (dynamic_cast<OfFenix*>(&contestant) == nullptr) contestant.begin();
      contestant.restores.push_back(measure(comm, [&] { contestant.restore(); }));
      contestant.finish();
      const auto right = value_of(rank, killed - 1);
      require(std::ranges::all_of(contestant.data(), [&](std::byte byte) { return byte == right; }),
              "what was restored is not what was committed");
    });
  }

  Contestants contestants_;
  bool is_new_ = true;  // this process
};

}  // namespace

int main(int argc, char** argv) {
  int rounds = 21;
  int deaths = 0;
  double committed = 64;
  double restored = 16;
  mend::bench::CommandLine line(
      "bench_fenix",
      "How long commits and restores take through fenix.h and mend.h, beside the store's own. Start it with "
      "mend run -n N --spares S, and --deaths S to measure restores.");
  line.add("--rounds", rounds, "Commits that are measured of each", 0);
  line.add("--deaths", deaths, "Restores that are measured; as many spares are needed", 0);
  line.add("--commit", committed, "MiB that each rank commits", 0.1, 1024);
  line.add("--restore", restored, "MiB of each rank that are restored", 0.1, 1024);
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
  MPI_Init(&argc, &argv);
  MPI_Comm world = MPI_COMM_NULL;
  fenix::args::FenixInitArgs arguments;
  arguments.out_comm = &world;
  arguments.spares = deaths;
  fenix::init(arguments);
  if (fenix::role() == fenix::INITIAL_RANK && rounds > 0) measure_commits(world, rounds, committed);
  Restores restores(restored);
  for (;;) {
    try {
      restores.go_on(world, deaths);
      break;
    } catch (const fenix::CommException&) {
    }
  }
  int rank = 0;
  MPI_Comm_rank(world, &rank);
  if (rank == 0) restores.print(restored);
  restores.end();
  Fenix_Finalize();
  MPI_Finalize();
  return 0;
}
