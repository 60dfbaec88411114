#include "bench/recovery_bounds.hpp"

#include "base/median.hpp"
#include "bench/jobs.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <mpi-ext.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace mend::bench {
namespace {

constexpr int rounds = 5;
/// Until the others wait in the call that is interrupted.
constexpr std::chrono::milliseconds until_all_wait{1};

std::size_t bytes_of(double mebibytes) { return static_cast<std::size_t>(mebibytes * (1 << 20)); }

/// Fresh memory of the kernel, given back by the destructor.
class Fresh {
 public:
  explicit Fresh(std::size_t bytes)
      : bytes_(bytes), memory_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::runtime_error("there is no memory for a bound");
  }
  ~Fresh() { ::munmap(memory_, bytes_); }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;

  void touch() { std::memset(memory_, 1, bytes_); }
  void* at(std::size_t offset) { return static_cast<std::byte*>(memory_) + offset; }

 private:
  std::size_t bytes_;
  void* memory_;
};

/// Measures in MPI_COMM_WORLD. Every function is collective.
class Bare {
 public:
  explicit Bare(std::size_t bytes) : bytes_(bytes) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  bool is_first() const { return rank_ == 0; }
  int size() const { return size_; }

  double revoke() {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const bool revokes = rank_ == size_ - 1;
    MPI_Barrier(MPI_COMM_WORLD);
    const std::int64_t arrived = now_ns();
    while (revokes && now_ns() - arrived < std::chrono::nanoseconds(until_all_wait).count()) continue;
    const std::int64_t begin = revokes ? now_ns() : 0;
    int sum = 1;
    revokes ? MPIX_Comm_revoke(comm) : MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
    const double took = since(begin);
    MPI_Comm_free(&comm);
    return took;
  }

  double agree() {
    int flag = 1;
    return timed([&] { MPIX_Comm_agree(MPI_COMM_WORLD, &flag); });
  }

  /// The times of MPIX_Comm_shrink and MPI_Comm_split.
  std::pair<double, double> shrink_and_split() {
    MPI_Comm living = MPI_COMM_NULL;
    MPI_Comm part = MPI_COMM_NULL;
    const double shrink = timed([&] { MPIX_Comm_shrink(MPI_COMM_WORLD, &living); });
    const double split = timed([&] { MPI_Comm_split(living, 0, rank_, &part); });
    MPI_Comm_free(&part);
    MPI_Comm_free(&living);
    return {shrink, split};
  }

  double exchange() {
    Fresh out(bytes_);
    Fresh in(bytes_);
    out.touch();
    in.touch();
    // The one that comes later waits for nobody.
    return in_own_time(MPI_MIN, rank_ < 2, [&] {
      constexpr std::size_t most = std::size_t{1} << 30U;  // fits into MPI's counts
      for (std::size_t at = 0; at < bytes_; at += most) {
        const auto count = static_cast<int>(std::min(most, bytes_ - at));
        MPI_Sendrecv(out.at(at), count, MPI_BYTE, 1 - rank_, 0, in.at(at), count, MPI_BYTE, 1 - rank_, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    });
  }

  double touch(bool by_all) {
    Fresh fresh(bytes_);
    return in_own_time(MPI_MAX, by_all || rank_ == 0, [&] { fresh.touch(); });
  }

 private:
  /// From when the last process begins until the last has ended.
  template <class Work>
  double timed(const Work& work) {
    MPI_Barrier(MPI_COMM_WORLD);
    const std::int64_t begin = now_ns();
    work();
    return since(begin);
  }

  /// What it takes those that take part, each by itself: `which` of these times.
  template <class Work>
  double in_own_time(MPI_Op which, bool takes_part, const Work& work) {
    MPI_Barrier(MPI_COMM_WORLD);
    const std::int64_t begin = now_ns();
    if (takes_part) work();
    const std::int64_t none = which == MPI_MIN ? std::numeric_limits<std::int64_t>::max() : 0;
    std::int64_t took = takes_part ? now_ns() - begin : none;
    MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_INT64_T, which, MPI_COMM_WORLD);
    return static_cast<double>(took) / 1e6;
  }

  /// From the latest `begin` until the latest process comes here.
  double since(std::int64_t begin) {
    std::array<std::int64_t, 2> times{begin, now_ns()};
    MPI_Allreduce(MPI_IN_PLACE, times.data(), 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return static_cast<double>(times[1] - times[0]) / 1e6;
  }

  std::size_t bytes_;
  int rank_ = 0;
  int size_ = 0;
};

std::map<std::string_view, std::vector<double>*> named(RecoveryBounds& bounds) {
  return {{"revoke", &bounds.revoke},      {"agree", &bounds.agree},       {"shrink", &bounds.shrink},
          {"split", &bounds.split},        {"exchange", &bounds.exchange}, {"touch_one", &bounds.touch_one},
          {"touch_all", &bounds.touch_all}};
}

}  // namespace

int measure_bounds(int argc, char** argv, double mebibytes, const std::string& record) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  Bare bare(bytes_of(mebibytes));
  if (bare.size() < 2) throw std::runtime_error("the bounds need two processes");
  RecoveryBounds bounds;
  for (int i = 0; i < rounds; ++i) {
    bounds.revoke.push_back(bare.revoke());
    bounds.agree.push_back(bare.agree());
    const auto [shrink, split] = bare.shrink_and_split();
    bounds.shrink.push_back(shrink);
    bounds.split.push_back(split);
    bounds.exchange.push_back(bare.exchange());
    bounds.touch_one.push_back(bare.touch(false));
    bounds.touch_all.push_back(bare.touch(true));
  }
  if (bare.is_first()) {
    for (const auto& [name, times] : named(bounds)) say(record, fmt::format("bound {} {}\n", name, median(*times)));
  }
  MPI_Finalize();
  return 0;
}

void add_sample(RecoveryBounds& bounds, const std::string& said) {
  auto places = named(bounds);
  std::istringstream lines(said);
  for (std::string word, name; lines >> word >> name;) {
    double time = 0;
    lines >> time;
    const auto place = places.find(name);
    if (word != "bound" || place == places.end()) throw std::runtime_error("a bound is not known");
    place->second->push_back(time);
    places.erase(place);
  }
  if (!places.empty()) throw std::runtime_error("a job has not measured all bounds");
}

double time_of_exit(double bytes) {
  void* const page = ::mmap(nullptr, sizeof(std::int64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw std::runtime_error("there is no memory for a bound");
  auto* const killed = static_cast<std::int64_t*>(page);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no process can be started for a bound");
  if (child == 0) {
    Fresh fresh(static_cast<std::size_t>(bytes));
    fresh.touch();
    *killed = now_ns();
    std::raise(SIGKILL);
    std::abort();  // not reached
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
    throw std::runtime_error("a process that was to be killed ended otherwise");
  const double took = static_cast<double>(now_ns() - *killed) / 1e6;
  ::munmap(page, sizeof(std::int64_t));
  return took;
}

}  // namespace mend::bench
