// Rank 1 dies in every epoch, as soon as there is a version to restore, and a process is started for it.
//
//   test_spawn_soak_subject RECOVERIES EVERY
//
// After every EVERY recoveries, rank 0, which survives, prints "after N: rss KIB heap KIB descriptors N threads N".

#include "framework/mend.hpp"
#include "tests/support/world.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

std::size_t resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (std::size_t kib = 0; word == "VmRSS:" && status >> kib) return kib;
  }
  return 0;
}

auto entries(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

void say_size(std::size_t recoveries) {
  const auto heap = ::mallinfo2();
  fmt::print("after {}: rss {} heap {} descriptors {} threads {}\n", recoveries, resident_kib(),
             (heap.uordblks + heap.hblkhd) / 1024, entries("/proc/self/fd"), entries("/proc/self/task"));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t recoveries = std::stoul(argv[1]);
  const std::size_t every = std::stoul(argv[2]);
  return mend::run(argc, argv, [&](mend::Session& session) {
    long count = 0;
    session.store().protect("count", count);
    session.store().restore();
    const std::size_t epoch = session.epoch().value;
    if (session.rank() == mend::Rank{0} && epoch % every == 0) say_size(epoch);
    ++count;
    session.store().commit();
    if (epoch == recoveries) return;
    if (session.rank() == mend::Rank{1}) support::die();
    for (;;) session.agree(true);
  });
}
