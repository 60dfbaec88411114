// Processes that die in MPI_Init when some others know them already, and others do not yet. MPI_Init's calls to the
// runtime go through this program first, and show how far each process is:
//     PROGRAM "0,1" 2      processes 0 and 1 die; process 2 looks for the others' shared memory after theirs is gone

#include "framework/mend.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pmix.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

namespace {

std::set<int> dying;
int late = -1;

int self() {
  const char* const rank = std::getenv("PMIX_RANK");
  return rank == nullptr ? -1 : std::atoi(rank);
}

template <class Function>
Function* of_library(Function*, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// The library's name of this process's shared memory, without the number of the process.
std::string segment_prefix() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/sm_segment.") == std::string::npos) continue;
    const std::string path = line.substr(line.find('/'));
    return path.substr(0, path.rfind('.') + 1);
  }
  return {};
}

void wait_until_their_memory_is_gone() {
  const std::string prefix = segment_prefix();
  if (prefix.empty()) std::abort();  // the library differs from what this test expects
  for (const int process : dying) {
    while (std::filesystem::exists(prefix + std::to_string(process)))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

extern "C" {

pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[], size_t count, const pmix_info_t info[], size_t ninfo,
                            pmix_op_cbfunc_t done, void* data) {
  static int fences = 0;
  if (++fences == 2 && dying.contains(self())) std::raise(SIGKILL);  // at the first fence it has met all
  return of_library(&PMIx_Fence_nb, "PMIx_Fence_nb")(procs, count, info, ninfo, done, data);
}

pmix_status_t PMIx_Get(const pmix_proc_t* process, const char key[], const pmix_info_t info[], size_t ninfo,
                       pmix_value_t** value) {
  static bool has_looked = false;
  const bool looks = key != nullptr && std::string_view(key).find("btl.sm") != std::string_view::npos;
  if (looks && !has_looked && self() == late) {
    has_looked = true;
    wait_until_their_memory_is_gone();
  }
  return of_library(&PMIx_Get, "PMIx_Get")(process, key, info, ninfo, value);
}

}  // extern "C"

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::istringstream numbers(argv[1]);
  for (std::string number; std::getline(numbers, number, ',');) dying.insert(std::stoi(number));
  late = std::stoi(argv[2]);
  return mend::run(argc - 2, argv + 2, [](mend::Session& session) {
    int present = 1;
    MPI_Allreduce(MPI_IN_PLACE, &present, 1, MPI_INT, MPI_SUM, session.comm());
    const std::string line = fmt::format("rank {}: {} ranks\n", session.rank().value, present);
    [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, line.data(), line.size());
  });
}
