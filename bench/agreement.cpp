// Agreement on real processes: mend's protocols beside the MPI library's agreement, and beside an allreduce that does
// not tolerate failures. Started by mpirun or mend run with the number of processes to measure.
//
// All are measured in turn, many times, so that disturbances of the machine affect all alike.

#include "bench/command_line.hpp"
#include "bench/simulated/simulation_main.hpp"
#include "agreement/mpix_agreement.hpp"
#include "agreement/service.hpp"
#include "base/median.hpp"
#include "transport/mpi_endpoint.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

namespace {
std::size_t allocations = 0;
}

// Counts every allocation of C++ code in this program; the MPI library's own allocations do not use it.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace mend::bench {
namespace {

using agreement::Agreement;
using agreement::GroupId;
using agreement::Layout;
using agreement::Protocol;
using agreement::Service;

struct Arguments {
  int rounds = 21;
  int repetitions = 400;
  std::string only;
  std::string json;
};

/// One way to agree, and its time in each round, in microseconds.
struct Contestant {
  std::string name;
  std::function<void()> once;
  std::vector<double> times{};
  std::size_t allocations = 0;  // after the warm-up, on this process
};

/// Returns the microseconds per agreement, of `repetitions` agreements, on the slowest process.
double measure(Contestant& contestant, int repetitions) {
  for (int i = 0; i < repetitions / 10; ++i) contestant.once();
  MPI_Barrier(MPI_COMM_WORLD);
  const std::size_t allocations_before = allocations;
  const double start = MPI_Wtime();
  for (int i = 0; i < repetitions; ++i) contestant.once();
  double time = (MPI_Wtime() - start) * 1e6 / repetitions;
  contestant.allocations += allocations - allocations_before;
  MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return time;
}

void print(const std::vector<Contestant>& contestants, int size, const Arguments& arguments) {
  const auto median_of = [&](const char* name) {
    const auto at = std::find_if(contestants.begin(), contestants.end(), [&](const auto& c) { return c.name == name; });
    return median(at->times);
  };
  const double library = median_of("MPIX_Comm_agree");
  const double allreduce = median_of("MPI_Allreduce");
  fmt::print("{} processes; medians of {} rounds of {} agreements\n", size, arguments.rounds, arguments.repetitions);
  fmt::print("{:22} {:>9} {:>9} {:>18} {:>16} {:>12}\n", "", "us", "least", "of MPIX_Comm_agree", "of MPI_Allreduce",
             "allocations");
  nlohmann::json document;
  for (const Contestant& contestant : contestants) {
    const double middle = median(contestant.times);
    const double least = *std::min_element(contestant.times.begin(), contestant.times.end());
    fmt::print("{:22} {:9.2f} {:9.2f} {:18.2f} {:16.2f} {:12}\n", contestant.name, middle, least, middle / library,
               middle / allreduce, contestant.allocations);
    document[contestant.name] = {
        {"us", middle}, {"least_us", least}, {"allocations", contestant.allocations}, {"rounds_us", contestant.times}};
  }
  write_json(arguments.json, {{"processes", size}, {"agreements", document}});
}

void run(const Arguments& arguments) {
  const std::vector<ProcessId> members = launched_processes();
  Service service(std::make_unique<transport::MpiEndpoint>(MPI_COMM_WORLD, members), {});
  std::vector<std::unique_ptr<Agreement>> groups;
  std::vector<Contestant> contestants;
  GroupId last;
  const auto enter = [&](const std::string& name, Protocol protocol, const Layout& layout) {
    groups.push_back(service.join(last = last.next(), members, protocol, layout));
    contestants.push_back({name, [group = groups.back().get()] { group->agree(1); }});
  };
  for (const char* tree : {"binary", "star", "chain", "8-ary", "bin/star:2", "bin/bin:4"}) {
    enter(fmt::format("ERA, {}", tree), Protocol::era, Layout::parse(tree));
  }
  enter("log2phases", Protocol::log2phases, Layout::binary());
  enter("validate-all", Protocol::validate_all, Layout::binary());
  enter("validate-all, loose", Protocol::validate_all_loose, Layout::binary());
  agreement::MpixAgreement library(MPI_COMM_WORLD);
  contestants.push_back({"MPIX_Comm_agree", [&] { library.agree(1); }});
  contestants.push_back({"MPI_Allreduce", [] {
                           int mine = 1;
                           int all = 0;
                           MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_BAND, MPI_COMM_WORLD);
                         }});

  std::erase_if(contestants, [&](const Contestant& contestant) {
    return contestant.name.find(arguments.only) == std::string::npos &&
           contestant.name.find("MPI") == std::string::npos;
  });

  for (int round = 0; round < arguments.rounds; ++round) {
    for (Contestant& contestant : contestants) contestant.times.push_back(measure(contestant, arguments.repetitions));
  }
  if (service.self() == ProcessId{0}) print(contestants, static_cast<int>(members.size()), arguments);
}

}  // namespace
}  // namespace mend::bench

int main(int argc, char** argv) {
  mend::bench::Arguments arguments;
  mend::bench::CommandLine line("bench_agreement",
                                "How long agreements take on real processes. Start it with mend run -n N.");
  line.add("--rounds", arguments.rounds, "Times that each is measured");
  line.add("--repetitions", arguments.repetitions, "Agreements in one measurement");
  line.add("--only", arguments.only, "Measure only those with this in their name, beside MPI's");
  line.add("--json", arguments.json, "Also write all numbers to this file");
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  mend::bench::run(arguments);
  MPI_Finalize();
  return 0;
}
