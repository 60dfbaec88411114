#include "tests/framework/subject/subject.hpp"

#include "base/fault_point.hpp"
#include "base/launch.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace subject {

void say(const mend::Session& session, std::string_view text) {
  const std::string line = fmt::format("rank {}: {}\n", session.rank().value, text);
  // One write, so that the lines of ranks do not mix.
  [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, line.data(), line.size());
}

void die() {
  std::raise(SIGKILL);
  std::abort();  // not reached
}

bool is_first(const mend::Session& session, int rank) {
  return session.epoch() == mend::Epoch{0} && session.rank() == mend::Rank{rank};
}

void count_step(mend::Session& session, long& step, long& total) {
  long sum = 0;
  const long mine = step + session.rank().value;
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, session.comm());
  total += sum;
  ++step;
  if (session.commit_due()) session.store().commit();
}

void count(mend::Session& session, long steps, const std::function<void(long)>& at_step) {
  long step = 0;
  long total = 0;
  session.store().protect("step", step);
  session.store().protect("total", total);
  session.store().restore();
  while (step < steps) {
    if (at_step) at_step(step);
    count_step(session, step, total);
  }
  say(session, fmt::format("total {} after {} steps in epoch {}", total, step, session.epoch().value));
}

namespace {

/// Rank 1 dies, and process `who` has an error of its own when communicators are made in the recovery.
int run_with_failing_split(int argc, char** argv, std::string_view who) {
  const char* const launched = std::getenv("PMIX_RANK");
  if (launched != nullptr && who == launched) {
    mend::on_fault_point([made = 0](std::string_view reached) mutable {
      if (reached == "recovery.split" && ++made > 1) throw std::runtime_error("nothing to split with");
    });
  }
  return mend::run(argc, argv, [](mend::Session& session) {
    count(session, 10, [&](long step) {
      if (step == 5 && is_first(session, 1)) die();
    });
  });
}

/// Rank 1 of 3 dies. The process that is started for it takes three seconds to connect, and three more to introduce
/// itself.
int run_with_slow_start(int argc, char** argv) {
  if (mend::launch::self() == mend::ProcessId{3}) {
    mend::on_fault_point([](std::string_view reached) {
      const bool is_slow = reached == "newcomer.call" || reached == "newcomer.introduce";
      if (is_slow) std::this_thread::sleep_for(std::chrono::seconds(3));
    });
  }
  return mend::run(argc, argv, [](mend::Session& session) {
    count(session, 10, [&](long step) {
      if (step == 5 && is_first(session, 1)) die();
    });
  });
}

std::jmp_buf before_the_job;

int jump_out(int argc, char** argv) {
  if (setjmp(before_the_job) != 0) return 0;
  return mend::run(argc, argv, [](mend::Session& session) {
    count(session, 3, {});
    std::longjmp(before_the_job, 1);
  });
}

/// The program has a duplicate of MPI_COMM_WORLD, or of a part of it, from before the job, and uses it in the body or
/// only after the job.
int run_beside_duplicate(int argc, char** argv) {
  const std::string_view how(argv[1]);
  const bool meets_in_body = how.ends_with("meets_in_body");
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm all = MPI_COMM_NULL;
  if (how.ends_with(":idup_meets_in_body")) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_idup(MPI_COMM_WORLD, &all, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (how.ends_with(":part_meets_in_body")) {  // of the first two processes
    int process = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_split(MPI_COMM_WORLD, process / 2, 0, &all);
  } else {
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
  }
  const int code = mend::run(argc, argv, [&](mend::Session& session) {
    int size = 0;
    MPI_Comm_size(all, &size);
    if (meets_in_body) MPI_Barrier(all);
    count(session, 3, {});
  });
  int there = 0;
  const int one = 1;
  if (code == 0) MPI_Allreduce(&one, &there, 1, MPI_INT, MPI_SUM, all);
  std::printf("there are %d\n", there);
  MPI_Comm_free(&all);
  MPI_Finalize();
  return code;
}

int run_inside_own_mpi(int argc, char** argv, int wanted_level) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, wanted_level, &provided);
  const int code = mend::run(argc, argv, [](mend::Session& session) {
    count(session, 10, [&](long step) {
      if (step == 5 && is_first(session, 1)) die();
    });
  });
  int finalized = 0;
  MPI_Finalized(&finalized);
  std::printf("MPI is %s after mend\n", finalized ? "finalized" : "still there");
  std::fflush(stdout);
  MPI_Finalize();
  return code;
}

/// A thread of the program makes a call in MPI_COMM_WORLD while the body waits for it.
int run_with_a_thread_in_the_world(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  const int code = mend::run(argc, argv, [](mend::Session& session) {
    int sum = 0;
    const auto count_all = [&sum] {
      const int one = 1;
      MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    };
    std::thread(count_all).join();
    say(session, fmt::format("there are {}", sum));
  });
  MPI_Finalize();
  return code;
}

/// Like programs that parse their arguments with strtok and set their environment: what is left of these cannot be used
/// again.
int take_beginning_apart(int argc, char** argv) {
  std::vector<std::string> words;
  for (const char* word = std::strtok(argv[1], ":,"); word != nullptr; word = std::strtok(nullptr, ":,"))
    words.emplace_back(word);
  const char* const setting = std::getenv("SUBJECT_SETTING");
  words.emplace_back(setting == nullptr ? "unset" : setting);
  ::setenv("SUBJECT_SETTING", "set by main", 1);
  return mend::run(argc, argv, [&](mend::Session& session) {
    if (is_first(session, 1)) die();
    MPI_Barrier(session.comm());
    say(session, fmt::format("{}", fmt::join(words, " ")));
  });
}

/// Prints main's arguments as the body finds them.
int show_arguments(int argc, char** argv) {
  return mend::run(argc, argv, [&](mend::Session& session) {
    std::vector<std::string> words;
    for (int i = 1; i < argc; ++i) words.emplace_back(argv[i] == nullptr ? "NULL" : argv[i]);
    say(session, fmt::format("{}", fmt::join(words, " ")));
  });
}

}  // namespace
}  // namespace subject

int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  const char* launched = std::getenv("PMIX_RANK");
  if (wanted == "process_1_refuses" && launched != nullptr && std::string_view(launched) == "1") {
    return mend::refuse("subject: process 1 finds no paper");
  }
  if (wanted == "process_1_refuses")
    return mend::run(argc, argv, [](mend::Session& session) { subject::count(session, 10, {}); });
  if (wanted == "processes_0_and_1_die_at_the_start" && launched != nullptr && std::string_view(launched) < "2") {
    mend::on_fault_point([](std::string_view reached) {
      if (reached == "init.after") subject::die();
    });
  }
  if (wanted == "processes_0_and_1_die_at_the_start")
    return mend::run(argc, argv, [](mend::Session& session) { subject::count(session, 10, {}); });
  constexpr std::string_view process_1_dies = "process_1_dies_at:";
  if (wanted.starts_with(process_1_dies)) {
    if (launched != nullptr && std::string_view(launched) == "1") {
      mend::on_fault_point([point = wanted.substr(process_1_dies.size())](std::string_view reached) {
        if (reached == point) subject::die();
      });
    }
    return mend::run(argc, argv, [](mend::Session& session) { subject::count(session, 10, {}); });
  }
  constexpr std::string_view cannot_split = "cannot_split:";
  if (wanted.starts_with(cannot_split))
    return subject::run_with_failing_split(argc, argv, wanted.substr(cannot_split.size()));
  if (wanted == "a_started_process_is_slow") return subject::run_with_slow_start(argc, argv);
  if (wanted == "process_1_has_no_place_for_a_trace") {
    if (launched != nullptr && std::string_view(launched) == "1") ::setenv("MEND_TRACE", "/proc/nothing", 1);
    return mend::run(argc, argv, [](mend::Session& session) { subject::count(session, 10, {}); });
  }
  if (wanted == "crashes_after_mend") {
    mend::run(argc, argv, [](mend::Session& session) { subject::count(session, 3, {}); });
    std::abort();
  }
  if (wanted == "is_killed_after_mend" || wanted == "leaves_quickly_after_mend") {
    mend::run(argc, argv, [](mend::Session& session) { subject::count(session, 3, {}); });
    if (launched != nullptr && std::string_view(launched) == "1") {
      if (wanted == "is_killed_after_mend") subject::die();
      _exit(0);
    }
    return 0;
  }
  if (wanted.starts_with("takes_its_beginning_apart:")) return subject::take_beginning_apart(argc, argv);
  if (wanted == "shows_its_arguments") return subject::show_arguments(argc, argv);
  if (wanted == "crashes_before_mend") std::abort();
  if (wanted == "process_1_crashes_before_mend" && std::getenv("PMIX_RANK") == std::string_view("1")) std::abort();
  if (wanted == "process_1_crashes_after_its_own_init") {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) std::abort();
    ::pause();
  }
  if (wanted == "runs_twice") {
    const auto body = [](mend::Session& session) { subject::count(session, 3, {}); };
    return mend::run(argc, argv, body) + 10 * mend::run(argc, argv, body);
  }
  if (wanted == "runs_inside_a_run") {
    return mend::run(argc, argv, [&](mend::Session& session) {
      int provided = MPI_THREAD_SINGLE;
      MPI_Query_thread(&provided);
      const int code = mend::run(argc, argv, [](mend::Session&) {});
      subject::say(session, fmt::format("has {}, the run inside returned {}",
                                        provided == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED" : "another", code));
    });
  }
  if (wanted == "inside_own_mpi") return subject::run_inside_own_mpi(argc, argv, MPI_THREAD_FUNNELED);
  if (wanted == "uses_the_world_after_the_job") {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    mend::run(argc, argv, [](mend::Session& session) { subject::count(session, 3, {}); });
    int all = 0;
    const int one = 1;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    std::printf("there are %d\n", all);
    MPI_Finalize();
    return 0;
  }
  if (wanted == "jumps_out_of_the_body") return subject::jump_out(argc, argv);
  if (wanted == "has_a_thread_in_the_world") return subject::run_with_a_thread_in_the_world(argc, argv);
  if (wanted.starts_with("has_a_duplicate:")) return subject::run_beside_duplicate(argc, argv);
  if (wanted == "inside_own_mpi_of_several_threads")
    return subject::run_inside_own_mpi(argc, argv, MPI_THREAD_MULTIPLE);
  if (wanted == "inside_own_mpi_of_too_low_a_level") return subject::run_inside_own_mpi(argc, argv, MPI_THREAD_SINGLE);
  if (wanted == "a_rank_dies_long_after_a_spare") return mend::run(argc, argv, subject::die_long_after_a_spare());
  constexpr std::string_view these_die = "these_die:";
  if (wanted.starts_with(these_die)) {
    return mend::run(argc, argv, subject::evolve_while_these_die(wanted.substr(these_die.size())));
  }
  constexpr std::string_view commits_async = "commits_asynchronously:";
  if (wanted.starts_with(commits_async)) {
    return mend::run(argc, argv, subject::commit_asynchronously_while_these_die(wanted.substr(commits_async.size())));
  }
  constexpr std::string_view in_two_groups = "in_two_groups:";
  if (wanted.starts_with(in_two_groups))
    return mend::run(argc, argv, subject::evolve_in_two_groups(wanted.substr(in_two_groups.size())));
  constexpr std::string_view gives_up_two = "gives_up_two:";
  if (wanted.starts_with(gives_up_two))
    return mend::run(argc, argv, subject::give_up_two(wanted.substr(gives_up_two.size())));
  constexpr std::string_view keeps_a_pool = "keeps_a_pool:";
  if (wanted.starts_with(keeps_a_pool))
    return mend::run(argc, argv, subject::keep_a_pool(wanted.substr(keeps_a_pool.size())));
  constexpr std::string_view evolves_a_table = "evolves_a_table:";
  if (wanted.starts_with(evolves_a_table))
    return mend::run(argc, argv, subject::evolve_a_table(wanted.substr(evolves_a_table.size())));
  constexpr std::string_view locally = "rolls_back_locally:";
  constexpr std::string_view with_requests = "rolls_back_with_requests:";
  constexpr std::string_view with_begun_collectives = "rolls_back_with_begun_collectives:";
  constexpr std::string_view with_neighbours = "rolls_back_with_neighbours:";
  constexpr std::string_view from_any = "rolls_back_from_any:";
  if (wanted.starts_with(from_any))
    return mend::run(argc, argv, subject::roll_back_from_any(wanted.substr(from_any.size())));
  if (wanted.starts_with(with_requests))
    return mend::run(argc, argv, subject::roll_back_with_requests(wanted.substr(with_requests.size())));
  constexpr std::string_view fills_logs = "fills_logs:";
  if (wanted.starts_with(fills_logs))
    return mend::run(argc, argv, subject::fill_logs(wanted.substr(fills_logs.size())));
  if (wanted.starts_with(with_neighbours))
    return mend::run(argc, argv, subject::roll_back_with_neighbours(wanted.substr(with_neighbours.size())));
  if (wanted.starts_with(with_begun_collectives))
    return mend::run(argc, argv,
                     subject::roll_back_with_begun_collectives(wanted.substr(with_begun_collectives.size())));
  if (wanted.starts_with(locally))
    return mend::run(argc, argv, subject::roll_back_locally(wanted.substr(locally.size())));
  constexpr std::string_view leaves = "leaves:";
  if (wanted.starts_with(leaves)) return mend::run(argc, argv, subject::run_until_asked(wanted.substr(leaves.size())));
  constexpr std::string_view parked = "watches_a_parked_spare:";
  if (wanted.starts_with(parked))
    return mend::run(argc, argv, subject::watch_a_parked_spare(wanted.substr(parked.size())));
  constexpr std::string_view has_ready = "has_a_spare_with_memory:";
  if (wanted.starts_with(has_ready))
    return mend::run(argc, argv, subject::die_when_a_spare_is_ready(wanted.substr(has_ready.size())));
  for (const auto& scenarios :
       {subject::error_scenarios(), subject::data_scenarios(), subject::communicator_scenarios(),
        subject::repair_scenarios(), subject::stall_scenarios(), subject::wrong_uses(),
        subject::fewer_ranks_scenarios(), subject::disk_scenarios(), subject::file_scenarios(),
        subject::local_rollback_scenarios()}) {
    if (const auto at = scenarios.find(wanted); at != scenarios.end()) return mend::run(argc, argv, at->second);
  }
  std::fprintf(stderr, "there is no scenario '%s'\n", std::string(wanted).c_str());
  return 99;
}
