// What LAMMPS's package FENIX calls, in its order, in a small program of our own. Each rank keeps a list that changes
// its length, and adds up what the ranks of its world have; the sums are the same whoever dies.
//
//   lammps_subject MODE SPARES STEPS [--die-after=PROCESS:MICROSECONDS,...]
//
// MODE `one`: all ranks are one world. MODE `universal`: two worlds of two ranks, made anew after each failure; a
// callback revokes the world of a survivor before the recovery, so that nobody waits in it for one who has left. A
// process that is named dies so long after it has got a rank, wherever it is then, unless it has come to the end of its
// work.

#include "tests/fenix/mortal.hpp"

#include <fenix.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int group_id = 0;
constexpr int list_member = 0;
constexpr int meta_member = 2;
constexpr int checkpoint_every = 3;

struct Program {
  bool universal = false;
  int spares = 0;
  long steps = 0;
  MPI_Comm input_world = MPI_COMM_NULL;
  MPI_Comm resilient = MPI_COMM_NULL;
  MPI_Comm world = MPI_COMM_NULL;
  int me = 0;
  int world_number = 0;

  struct Meta {
    long step = 0;
    long total = 0;
  } meta;
  std::vector<int> list;
};

Program program;

/// As long as the step says, and full of it.
std::vector<int> list_at(long step) {
  return std::vector<int>(static_cast<std::size_t>(5 + program.me + step % 7), static_cast<int>(step));
}

void wrong(const char* what) {
  std::printf("rank %d: wrong %s at step %ld\n", program.me, what, program.meta.step);
  std::exit(4);
}

// --- processes: as in the package ----------------------------------------------------------------------------------

void set_up_worlds() {
  MPI_Comm_rank(program.resilient, &program.me);
  if (!program.universal) {
    program.world = program.resilient;
    return;
  }
  MPI_Info info = MPI_INFO_NULL;
  MPI_Comm_get_info(program.resilient, &info);
  MPI_Info_set(info, "mpi_error_uniform", "construct");
  MPI_Comm_set_info(program.resilient, info);
  MPI_Info_free(&info);
  if (program.world != MPI_COMM_NULL) MPI_Comm_free(&program.world);
  program.world_number = program.me / 2;
  MPI_Comm_split(program.resilient, program.world_number, 0, &program.world);
  MPI_Barrier(program.resilient);
}

void handle_fault() {
  MPI_Comm_rank(program.resilient, &program.me);
  if (fenix::fail_list().empty()) wrong("list of failures");
  if (fenix::nspare() < 0 || fenix::nspare() >= program.spares) wrong("number of spares");
  if (fenix::error() != FENIX_SUCCESS) wrong("error");
}

void recover() {
  while (true) {
    try {
      set_up_worlds();
      return;
    } catch (const fenix::CommException&) {
    }
  }
}

// --- data: as in the package ---------------------------------------------------------------------------------------

void create_group() {
  int flag = 0;
  fenix::data::group_create(group_id, program.resilient, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, &flag);
  if (flag != FENIX_SUCCESS) wrong("group");
}

void create_member(int member, void* data, int count) {
  for (const int id : fenix::data::group_members(group_id).value()) {
    if (id != member) continue;
    int flag = 0;
    Fenix_Data_member_attr_set(group_id, member, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, data, &flag);
    return;
  }
  fenix::data::member_create(group_id, member, data, count, MPI_CHAR);
}

void checkpoint() {
  const std::size_t bytes = program.list.size() * sizeof(int);
  create_member(list_member, program.list.data(), FENIX_RESIZEABLE);
  fenix::data::member_storev(group_id, list_member, fenix::DataSubset({0, bytes - 1}));
  create_member(meta_member, &program.meta, sizeof program.meta);
  fenix::data::member_store(group_id, meta_member, fenix::DataSubset({0, sizeof program.meta - 1}));
  fenix::data::commit_barrier(group_id);
}

/// Asks for the length first.
void restore() {
  fenix::DataSubset found;
  const auto latest = FENIX_DATA_SNAPSHOT_LATEST;
  fenix::data::member_restore(group_id, list_member, nullptr, 0, latest, found);
  program.list.resize(found.max_count() / sizeof(int));
  fenix::data::member_lrestore(group_id, list_member, program.list.data(), static_cast<int>(found.max_count()), latest,
                               found);
  fenix::data::member_restore(group_id, meta_member, &program.meta, sizeof program.meta, latest,
                              fenix::data::SUBSET_IGNORE);
  if (program.list != list_at(program.meta.step)) wrong("list");
}

bool has_checkpoint() {
  const auto snapshots = fenix::data::group_snapshots(group_id);
  return snapshots && !snapshots->empty();
}

void run() {
  create_group();
  if (has_checkpoint()) {
    restore();
  } else {
    program.meta = {};
  }
  while (program.meta.step < program.steps) {
    program.list = list_at(program.meta.step);
    if (program.meta.step % checkpoint_every == 0) checkpoint();
    long sum = program.me + program.meta.step;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, program.world);
    program.meta.total += sum;
    program.meta.step += 1;
  }
}

void die_later(int argc, char** argv) {
  int process = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  const std::string wanted = std::to_string(process) + ":";
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--die-after=", 12) != 0) continue;
    const std::string deaths = std::string(",") + (argv[i] + 12);
    const std::size_t at = deaths.find("," + wanted);
    if (at == std::string::npos) continue;
    const long microseconds = std::atol(deaths.c_str() + at + 1 + wanted.size());
    die_in(std::chrono::microseconds(microseconds));
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  program.universal = std::strcmp(argv[1], "universal") == 0;
  program.spares = std::atoi(argv[2]);
  program.steps = std::atol(argv[3]);
  MPI_Comm_dup(MPI_COMM_WORLD, &program.input_world);

  // The command `fenix`, in the middle of the program.
  fenix::set_option(fenix::SPARE_WAIT_MODE, fenix::SLEEP);
  fenix::args::FenixInitArgs arguments;
  arguments.in_comm = program.input_world;
  arguments.out_comm = &program.resilient;
  arguments.spares = program.spares;
  fenix::init(arguments);
  die_later(argc, argv);

  fenix::callback_register([](MPI_Comm, int) { handle_fault(); });
  if (program.universal) {
    fenix::callback_register(
        [](MPI_Comm, int) {
          if (program.world != MPI_COMM_NULL) fenix::comm_revoke(program.world);
        },
        fenix::PRE_RECOVERY);
  }
  if (fenix::role() == fenix::RECOVERED_RANK) {
    fenix::callback_invoke_all(fenix::POST_RECOVERY);
    recover();
  }
  while (true) {
    try {
      if (fenix::role() == fenix::INITIAL_RANK) set_up_worlds();
      run();
      live_on();
      Fenix_Finalize();
      break;
    } catch (const fenix::CommException&) {
      recover();
    }
  }
  std::printf("rank %d: total %ld\n", program.me, program.meta.total);
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
