// A job with everything for which mend makes system calls: a start, commits in memory and to disk, a recovery by a
// spare, one by a started process, and an end.
//     PROGRAM [full:]PROCESS@STEP...      these processes die at these steps, or use up their descriptors
// After the job, each process that has a rank says so.

#include "framework/mend.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <string_view>
#include <vector>

namespace {

int rank_at_end = -1;

void say(std::string_view line) {
  [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, line.data(), line.size());
}

void use_up_descriptors() {
  while (::dup(STDIN_FILENO) >= 0) {
  }
}

std::vector<std::string> deaths_among(int argc, char** argv) {
  std::vector<std::string> deaths;
  for (int i = 1; i < argc && std::string_view(argv[i]).find('@') != std::string_view::npos; ++i)
    deaths.emplace_back(argv[i]);
  return deaths;
}

void work(mend::Session& session, const std::vector<std::string>& deaths) {
  constexpr long steps = 12;
  constexpr std::size_t more_than_a_large_page = 300'000;
  long step = 0;
  long total = 0;
  std::vector<long> field(more_than_a_large_page);
  mend::Store& store = session.store();
  store.protect("step", step);
  store.protect("total", total);
  store.protect("field", field);
  store.restore();
  while (step < steps) {
    const std::string here = fmt::format("{}@{}", session.process().value, step);
    for (const std::string& death : deaths) {
      if (death == here) std::raise(SIGKILL);
      if (death == "later_full:" + here) ::usleep(500'000);  // a process that was started before has connected by then
      if (death.ends_with("full:" + here)) use_up_descriptors();
    }
    long sum = 0;
    const long mine = step + session.rank().value;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, session.comm());
    total += sum;
    field[static_cast<std::size_t>(step)] = total;
    ++step;
    if (session.commit_due()) store.commit();
  }
  long all = 0;
  for (const long value : field) all += value;
  rank_at_end = session.rank().value;
  say(fmt::format("rank {}: total {} and {}\n", rank_at_end, total, all));
}

}  // namespace

int main(int argc, char** argv) {
  // Nothing here allocates memory outside of mend::run: the program itself would end of that.
  const int code = mend::run(argc, argv, [&](mend::Session& session) { work(session, deaths_among(argc, argv)); });
  std::array<char, 40> line{};
  const auto end = fmt::format_to_n(line.data(), line.size(), "after the job: rank {}\n", rank_at_end).out;
  if (rank_at_end >= 0) say({line.data(), end});
  return code;
}
