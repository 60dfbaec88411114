// The store on real processes: the time of a commit and of the restore of a lost rank, beside a copy in memory and a
// plain MPI_Sendrecv of the same bytes. Started by mend run with the number of ranks to measure.
//
// All are measured in turn, many times, so that disturbances of the machine affect all alike.

#include "bench/command_line.hpp"
#include "bench/simulated/simulation_main.hpp"
#include "agreement/ballot.hpp"
#include "agreement/mpix_agreement.hpp"
#include "base/error.hpp"
#include "base/median.hpp"
#include "store/snapshot/memory/block_reserve.hpp"
#include "store/placement/coding.hpp"
#include "store/engine/store_engine.hpp"
#include "transport/mpi.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mend::bench {
namespace {

struct Arguments {
  int rounds = 21;
  double mebibytes = 64;
  std::string only;
  std::string json;
  bool from_cold = false;
  bool one_large = false;
  bool full_page_cache = false;
};

/// An operation on a rank's bytes, and its time in each round.
struct Contestant {
  std::string name;
  std::function<void()> prepare;
  std::function<void()> once;
  std::function<void()> settle{};  ///< afterwards, not measured
  std::vector<Milliseconds> times{};
};

/// Returns the time on the slowest rank.
Milliseconds measure(const Contestant& contestant) {
  if (contestant.prepare) contestant.prepare();
  MPI_Barrier(MPI_COMM_WORLD);
  const Stopwatch watch;
  contestant.once();
  double time = Milliseconds(watch.elapsed()).count();
  MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (contestant.settle) contestant.settle();
  return Milliseconds{time};
}

/// The store of a rank that protects one field.
class ProtectedField {
 public:
  ProtectedField(const std::string& redundancy, std::size_t size, FindChanges how = FindChanges::automatic)
      : redundancy_(Redundancy::parse(redundancy)), how_(how), field_(size) {
    begin(true);
  }

  /// Changes the values of one of `parts` parts of the field.
  void change(std::size_t parts) {
    for (std::size_t i = 0; i < field_.size() / parts; ++i) field_[i] += 1;
  }

  void commit() { store_->commit(); }
  void begin_commit() { store_->commit_async(); }
  void finish_commit() { store_->finish_commit(); }
  void restore() { store_->restore(); }

  /// The process that takes over rank 1 after a failure: a spare with memory ready, or a process that has just started.
  enum class Newcomer : bool { spare, started };
  void lose_a_rank(Newcomer newcomer) {
    store_->finish_commit();  // the copies of the restore before have come
    epoch_ = epoch_.next();
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const std::vector<ByteCount> sizes = store_->block_sizes();
    begin(rank == 1);
    if (rank == 1 && newcomer == Newcomer::spare) BlockReserve::instance().prepare(sizes, [] { return true; });
  }

 private:
  void begin(bool newcomer) {
    if (newcomer) store_.emplace(redundancy_, 2, std::nullopt, how_);
    ballot_.reset();
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    throw_errors_of(made);
    comm_ = Communicator(made);
    ballot_.emplace(std::make_unique<agreement::MpixAgreement>(made), Rank{comm_.rank()}, comm_.size());
    const std::vector<NodeId> nodes(static_cast<std::size_t>(comm_.size()));
    store_->begin_epoch(made, *ballot_, nodes, epoch_);
    store_->protect("field", field_);
  }

  Redundancy redundancy_;
  FindChanges how_;
  std::vector<double> field_;
  Communicator comm_;
  std::optional<agreement::Ballot> ballot_;
  std::optional<StoreEngine> store_;
  Epoch epoch_;
};

/// Computes all parities of one stripe of `data` pieces, which are the bytes of `field` together.
std::function<void()> encoder(int data, int parity, const std::vector<double>& field, std::vector<double>& parities) {
  return [=, &field, &parities] {
    const auto all = std::as_bytes(std::span(field));
    const std::size_t length = all.size() / static_cast<std::size_t>(data);
    const std::size_t slice = std::max(std::size_t{256} << 10U, (length + 63) / 64);  // as store/placement/exchange.cpp
    for (std::size_t at = 0; at < length; at += slice) {
      const std::size_t size = std::min(slice, length - at);
      for (int row = 0; row < parity; ++row) {
        std::vector<Term> terms;
        for (int i = 0; i < data; ++i) {
          terms.push_back({all.subspan(static_cast<std::size_t>(i) * length + at, size), coefficient_of(row, i)});
        }
        combine(terms,
                std::as_writable_bytes(std::span(parities)).subspan(static_cast<std::size_t>(row) * length + at, size));
      }
    }
  };
}

void print(const std::vector<Contestant>& contestants, int ranks, const Arguments& arguments) {
  const auto median_of = [&](const char* name) {
    return median(std::ranges::find_if(contestants, [&](const Contestant& c) { return c.name == name; })->times);
  };
  const Milliseconds copy = median_of("memcpy");
  const Milliseconds exchange = median_of("MPI_Sendrecv");
  fmt::print("{} ranks, {:g} MiB each; medians of {} rounds\n", ranks, arguments.mebibytes, arguments.rounds);
  fmt::print("{:22} {:>9} {:>9} {:>9} {:>14} {:>20}\n", "", "ms", "least", "of memcpy", "of Sendrecv",
             "memcpy+Sendrecv / it");
  nlohmann::json document;
  for (const Contestant& contestant : contestants) {
    const Milliseconds middle = median(contestant.times);
    const Milliseconds least = *std::ranges::min_element(contestant.times);
    fmt::print("{:22} {:9.2f} {:9.2f} {:9.2f} {:14.2f} {:20.2f}\n", contestant.name, middle.count(), least.count(),
               middle / copy, middle / exchange, (copy + exchange) / middle);
    std::vector<double> times;
    for (const Milliseconds time : contestant.times) times.push_back(time.count());
    document[contestant.name] = {{"ms", middle.count()}, {"least_ms", least.count()}, {"rounds_ms", times}};
  }
  write_json(arguments.json, {{"ranks", ranks}, {"mebibytes", arguments.mebibytes}, {"times", document}});
}

/// Has the kernel provide small pages for `bytes`, and frees them.
void touch_small_pages(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  ::madvise(memory, bytes, MADV_NOHUGEPAGE);
  std::memset(memory, 1, bytes);
  ::munmap(memory, bytes);
}

/// A file in the kernel's page cache, which leaves no memory free: what needs memory waits until the kernel has
/// reclaimed some, in small pieces.
class FullPageCache {
 public:
  FullPageCache() : file_(std::tmpfile()), size_(free_memory()) {
    if (file_ == nullptr || ::ftruncate(::fileno(file_), size_) != 0)
      throw EnvironmentError("no file can be made in the folder for temporary files");
  }
  ~FullPageCache() { std::fclose(file_); }
  FullPageCache(const FullPageCache&) = delete;
  FullPageCache& operator=(const FullPageCache&) = delete;

  /// Reads the file, which is one hole, and needs no place on the disk.
  void fill() {
    std::vector<char> block(std::size_t{1} << 20);
    for (off_t at = 0; at < size_; at += static_cast<off_t>(block.size()))
      if (::pread(::fileno(file_), block.data(), block.size(), at) <= 0) break;
    if (free_memory() > size_ / 2)
      throw EnvironmentError("the folder for temporary files does not use the page cache: set TMPDIR to one on a disk");
  }

 private:
  static off_t free_memory() { return static_cast<off_t>(::sysconf(_SC_AVPHYS_PAGES)) * ::sysconf(_SC_PAGESIZE); }

  std::FILE* file_;
  off_t size_;
};

/// Calls `work` for each part of `bytes` bytes; parts fit into `buffer`, and into MPI's counts.
void in_parts(std::size_t bytes, std::size_t buffer, const std::function<void(std::size_t)>& work) {
  for (std::size_t at = 0; at < bytes; at += buffer) work(std::min(buffer, bytes - at));
}

/// The first commits of a store, and the restore of a process that has no memory ready, beside their bounds: first
/// touch of the memory that they need, in small pages, and copy and exchange of the bytes. Each round has a new store.
void run_from_cold(const Arguments& arguments) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  constexpr std::size_t mebibyte = 1 << 20;
  const auto most = static_cast<std::size_t>(arguments.mebibytes * mebibyte);
  const bool is_small = arguments.one_large && rank != 1;
  const std::size_t bytes = is_small ? mebibyte : most;
  const std::size_t buffer = std::min(most, 256 * mebibyte);
  std::vector<std::byte> from(buffer, std::byte{1});
  std::vector<std::byte> to(buffer, std::byte{2});
  std::optional<FullPageCache> page_cache;
  if (arguments.full_page_cache && rank == 0) page_cache.emplace();
  const auto fill_page_cache = [&] {
    if (page_cache) page_cache->fill();
  };
  std::optional<ProtectedField> field;
  std::vector<Contestant> all;
  const auto add = [&](const char* name, std::function<void()> prepare, std::function<void()> once) {
    all.push_back({name, std::move(prepare), std::move(once)});
  };
  add("first touch", {}, [&] { touch_small_pages(bytes); });
  add("memcpy", {},
      [&] { in_parts(bytes, buffer, [&](std::size_t part) { std::memcpy(to.data(), from.data(), part); }); });
  // With one large rank, its bytes go to the next rank, and nothing comes back.
  const int to_rank = is_small ? MPI_PROC_NULL : (rank + 1) % ranks;
  const int before = (rank + ranks - 1) % ranks;
  const int from_rank = arguments.one_large && before != 1 ? MPI_PROC_NULL : before;
  add("MPI_Sendrecv", {}, [&] {
    in_parts(most, buffer, [&](std::size_t part) {
      MPI_Sendrecv(from.data(), static_cast<int>(part), MPI_BYTE, to_rank, 0, to.data(), static_cast<int>(part),
                   MPI_BYTE, from_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
  });
  add(
      "first commit",
      [&] {
        field.emplace("partner", bytes / sizeof(double));
        fill_page_cache();
      },
      [&] { field->commit(); });
  add(
      "second commit", [&] { field->change(1); }, [&] { field->commit(); });
  add(
      "third commit", [&] { field->change(1); }, [&] { field->commit(); });
  add(
      "restore",
      [&] {
        field->lose_a_rank(ProtectedField::Newcomer::started);
        fill_page_cache();
      },
      [&] { field->restore(); });
  std::vector<std::vector<double>> ratios(all.size());
  for (int round = 0; round < arguments.rounds; ++round) {
    field.reset();
    BlockReserve::instance().clear();
    fill_page_cache();
    for (Contestant& contestant : all) contestant.times.push_back(measure(contestant));
    // Two blocks are new: the snapshot, and what is kept of the other rank's. With one large rank, they are of two
    // ranks. For the third commit, no block is new.
    const auto last = [&](std::size_t i) { return all[i].times.back(); };
    const Milliseconds exchange = last(1) + last(2);
    const Milliseconds bound = (arguments.one_large ? 1 : 2) * last(0) + exchange;
    for (std::size_t i = 0; i < all.size(); ++i)
      ratios[i].push_back(last(i) / (all[i].name == "third commit" ? exchange : bound));
  }
  if (rank != 0) return;
  fmt::print("{} ranks, {:g} MiB {}, {} new stores{}\n{:16} {:>10} {:>10} {:>10} {:>22} {:>8}\n", ranks,
             arguments.mebibytes, arguments.one_large ? "of rank 1" : "each", arguments.rounds,
             arguments.full_page_cache ? ", page cache full" : "", "", "first ms", "median ms", "most ms",
             "of the bound: median", "most");
  for (std::size_t i = 0; i < all.size(); ++i) {
    fmt::print("{:16} {:10.1f} {:10.1f} {:10.1f} {:22.2f} {:8.2f}\n", all[i].name, all[i].times.front().count(),
               median(all[i].times).count(), std::ranges::max(all[i].times).count(), median(ratios[i]),
               std::ranges::max(ratios[i]));
  }
}

void run(const Arguments& arguments) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<double> field(static_cast<std::size_t>(arguments.mebibytes * (1 << 20)) / sizeof(double), rank);
  std::vector<double> other(field.size(), 1);
  const auto bytes = static_cast<int>(field.size() * sizeof(double));

  std::vector<Contestant> contestants;
  contestants.push_back(
      {"memcpy", {}, [&] { std::memcpy(other.data(), field.data(), field.size() * sizeof(double)); }});
  contestants.push_back({"MPI_Sendrecv", {}, [&] {
                           MPI_Sendrecv(field.data(), bytes, MPI_BYTE, (rank + 1) % ranks, 0, other.data(), bytes,
                                        MPI_BYTE, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                         }});
  contestants.push_back({"encode 4+1", {}, encoder(4, 1, field, other)});
  contestants.push_back({"encode 4+2", {}, encoder(4, 2, field, other)});
  std::vector<std::unique_ptr<ProtectedField>> fields;
  for (const char* redundancy : {"local", "partner", "replicas:2", "xor:3", "xor:4", "rs:2+2", "rs:4+2"}) {
    const std::string name = redundancy;
    if (ranks < Redundancy::parse(name).least_ranks() || name.find(arguments.only) == std::string::npos) continue;
    const auto another = [&](FindChanges how = FindChanges::automatic) {
      return fields.emplace_back(std::make_unique<ProtectedField>(name, field.size(), how)).get();
    };
    ProtectedField* all_changed = another();
    contestants.push_back({"commit, " + name, [=] { all_changed->change(1); }, [=] { all_changed->commit(); }});
    ProtectedField* little_changed = another();
    contestants.push_back({"  1 % changed", [=] { little_changed->change(100); }, [=] { little_changed->commit(); }});
    ProtectedField* little_read = another(FindChanges::by_hash);
    contestants.push_back({"  1 %, by hash", [=] { little_read->change(100); }, [=] { little_read->commit(); }});
    if (name == "local") continue;
    ProtectedField* asynchronous = another();
    contestants.push_back({"  async, begun", [=] { asynchronous->change(1); }, [=] { asynchronous->begin_commit(); }});
    contestants.push_back({"  async, finished", {}, [=] { asynchronous->finish_commit(); }});
    // Between the two above, the measurement itself calls MPI, so messages make progress. Without any call in between:
    ProtectedField* hurried = another();
    contestants.push_back({"  async, at one go", [=] { hurried->change(1); },
                           [=] {
                             hurried->begin_commit();
                             hurried->finish_commit();
                           }});
    ProtectedField* restored = another();
    restored->commit();
    using enum ProtectedField::Newcomer;
    const auto finish = [=] { restored->finish_commit(); };
    contestants.push_back(
        {"restore, " + name, [=] { restored->lose_a_rank(spare); }, [=] { restored->restore(); }, finish});
    contestants.push_back(
        {"  by one just started", [=] { restored->lose_a_rank(started); }, [=] { restored->restore(); }, finish});
  }
  // Some rounds are not measured: after them both slots of each store have their memory, both can be overwritten by a
  // commit, and writes are watched.
  for (int round = -6; round < arguments.rounds; ++round) {
    for (Contestant& contestant : contestants) {
      const Milliseconds time = measure(contestant);
      if (round >= 0) contestant.times.push_back(time);
    }
  }
  if (rank == 0) print(contestants, ranks, arguments);
}

}  // namespace
}  // namespace mend::bench

int main(int argc, char** argv) {
  mend::bench::Arguments arguments;
  mend::bench::CommandLine line("bench_store", "How long commits and restores take. Start it with mend run -n N.");
  line.add("--rounds", arguments.rounds, "Times that each is measured");
  line.add("--mebibytes", arguments.mebibytes, "Of each rank's data", 0.1, 65536);
  line.add("--only", arguments.only, "Measure only redundancies with this in their name");
  line.add("--json", arguments.json, "Also write all numbers to this file");
  line.add_flag("--from-cold", arguments.from_cold,
                "Measure the first commits of new stores, whose memory the kernel has yet to provide");
  line.add_flag("--one-large", arguments.one_large, "Only rank 1, which is lost, has that much, the others 1 MiB",
                "--from-cold");
  line.add_flag("--full-page-cache", arguments.full_page_cache,
                "Fill the page cache of rank 0's machine before each measurement, so that no memory is free there",
                "--from-cold");
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
  if (arguments.mebibytes > 1024 && !arguments.from_cold) {
    fmt::print(stderr, "bench_store: more than 1024 MiB can be measured with --from-cold only\n");
    return 2;
  }
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  arguments.from_cold ? mend::bench::run_from_cold(arguments) : mend::bench::run(arguments);
  MPI_Finalize();
  return 0;
}
