// A job for the detector's tests: ranks that follow instructions for a given time.
//
//   test_detector_subject SECONDS EVIDENCE THREADS [--mend-...]
//
// They compute, with THREADS additional busy threads, and meet in collectives. When the time is over, each writes to
// EVIDENCE/<process> how many of the others it knows to be dead, and the number of recoveries.

#include "framework/mend.hpp"

#include "detector/local/runtime_witness.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

namespace {

/// Threads that keep the machine busy while this object lives.
class Load {
 public:
  explicit Load(int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this] {
        while (!over_) {
        }
      });
    }
  }
  ~Load() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

 private:
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

int main(int argc, char** argv) {
  const Load load(std::atoi(argv[3]));
  return mend::run(argc, argv, [&](mend::Session& session) {
    const mend::Seconds wanted(std::atof(argv[1]));
    const mend::Stopwatch watch;
    int over = 0;
    while (over == 0) {
      const auto end = mend::Clock::now() + std::chrono::milliseconds(2);
      while (mend::Clock::now() < end) {
      }
      over = watch.elapsed() > wanted ? 1 : 0;
      MPI_Bcast(&over, 1, MPI_INT, 0, session.comm());
      session.check();
    }
    const mend::RuntimeWitness witness;
    std::ofstream(fmt::format("{}/{}", argv[2], session.process().value))
        << fmt::format("{} {}\n", witness.death_count(), session.recoveries().size());
  });
}
