// A program whose MPI library forgets a process (forgetful_library.cpp):
//     PROGRAM CALL      CALL: shrink, agree (with --mend-agreement mpi), waitall, allreduce, barrier, sendrecv (with
//                       --mend-rollback local)
// The processes count; rank 1 dies after the first steps, and then process 3 is forgotten. With "waitall", nobody dies;
// with "allreduce" it is forgotten in the restore after that; with "barrier" processes 2 and 3 are, in a call of the
// program. With "start", nobody dies, and process 3 is forgotten in the first shrink. With "joined", process 3 is
// forgotten in the shrink that follows when a process has been started and is in the job.

#include "base/fault_point.hpp"
#include "base/launch.hpp"
#include "framework/mend.hpp"
#include "tests/framework/subject/forgetful_library.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <string_view>

int main(int argc, char** argv) {
  const std::string call = argc > 1 ? argv[1] : "";
  const bool forgets_at_a_point = call == "start" || call == "joined";
  if (forgets_at_a_point && mend::launch::self() == mend::ProcessId{3}) {
    mend::on_fault_point([here = call == "start" ? "start.introduced" : "spawn.done"](std::string_view point) {
      if (point == here) forget_this_process_in("shrink");
    });
  }
  return mend::run(argc, argv, [call, forgets_at_a_point](mend::Session& session) {
    constexpr long steps = 6;
    constexpr long last_before = 3;
    long step = 0;
    long total = 0;
    session.store().protect("step", step);
    session.store().protect("total", total);
    const bool forgets_in_restore = call == "allreduce";
    if (forgets_in_restore && session.epoch() == mend::Epoch{1} && session.rank() == mend::Rank{3})
      forget_this_process_in(call.c_str());
    session.store().restore();
    while (step < steps) {
      const bool is_time = step == last_before && session.epoch() == mend::Epoch{0};
      const int first_forgotten = call == "barrier" ? 2 : 3;
      if (is_time && !forgets_in_restore && !forgets_at_a_point && session.rank().value >= first_forgotten)
        forget_this_process_in(call.c_str());
      const bool dies = is_time && call != "waitall" && call != "start" && session.rank() == mend::Rank{1};
      if (dies && call == "barrier") std::raise(SIGKILL);
      if (step == last_before) MPI_Barrier(session.comm());  // also of ranks that go back: send-deterministic
      if (dies) std::raise(SIGKILL);
      long sum = 0;
      const long mine = step + session.rank().value;
      MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, session.comm());
      total += sum;
      ++step;
      session.store().commit();
    }
    const std::string line = fmt::format("rank {}: total {} after {} steps in epoch {}\n", session.rank().value, total,
                                         step, session.epoch().value);
    [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, line.data(), line.size());
  });
}
