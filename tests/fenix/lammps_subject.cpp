// What LAMMPS's package FENIX calls, in its order, in a small program of our own. The names are those of LAMMPS: the
// universe is all that was launched, and a world is the ranks that compute together. In each step a world adds up its
// items; the sums are the same whoever dies.
//
//   lammps_subject MODE SPARES STEPS FOLDER [--die-after=PROCESS:MICROSECONDS,...]
//
// MODE `one`: all ranks are one world, and keep their state in a data group: a list that changes its length and is
// empty at times, and what comes with it. MODE `files`: all ranks are one world, which closes up when there is no
// spare, and its first rank writes restart files. MODE `universal`: two worlds of two ranks and one of the spares, made
// before Fenix_Init and anew after each failure; a callback revokes the world of a survivor before the recovery, so
// that nobody waits in it for one who has left; each world writes restart files. MODE `worlds`: the same, and each
// world keeps its state in a data group, whose number is the same in both. A process that is named dies so long after
// it has got a rank, wherever it is then, unless it has come to the end of its work.

#include "tests/fenix/mortal.hpp"

#include <fenix.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

constexpr int group_id = 0;
constexpr int list_member = 0;
constexpr int meta_member = 2;
constexpr int checkpoint_every = 3;
constexpr int items = 12;
constexpr int ranks_of_a_world = 2;

enum class Mode { one, files, universal, worlds };

/// What LAMMPS knows of the processes.
struct Universe {
  MPI_Comm uworld = MPI_COMM_WORLD;
  MPI_Comm uorig = MPI_COMM_WORLD;
  int me = 0;
  int nprocs = 0;
  int iworld = 0;
  std::vector<int> procs_per_world;
  std::vector<int> uni2orig;
  int nworlds() const { return static_cast<int>(procs_per_world.size()); }
};

/// What has to come back after a failure.
struct Meta {
  long step = 0;
  long total = 0;
};

struct Program {
  Mode mode = Mode::one;
  int spares = 0;
  long steps = 0;
  std::string folder;
  Universe universe;
  MPI_Comm resilient = MPI_COMM_NULL;
  MPI_Comm world = MPI_COMM_NULL;
  int me = 0;      // in the world
  int nprocs = 0;  // of the world
  int process = 0;
  Meta meta;
  std::vector<int> list;
  bool universal() const { return mode == Mode::universal || mode == Mode::worlds; }
  bool in_memory() const { return mode == Mode::one || mode == Mode::worlds; }
};

Program program;

void wrong(const char* what) {
  std::printf("rank %d: wrong %s at step %ld\n", program.me, what, program.meta.step);
  std::exit(4);
}

void require(bool is_so, const char* what) {
  if (!is_so) wrong(what);
}

// --- before the command --------------------------------------------------------------------------------------------

int world_of(int rank) {
  int count = 0;
  for (int world = 0; world < program.universe.nworlds(); ++world) {
    count += program.universe.procs_per_world[static_cast<std::size_t>(world)];
    if (rank < count) return world;
  }
  return -1;
}

/// The options on the command line: with several worlds, the last is the spares.
void create_universe() {
  Universe& universe = program.universe;
  MPI_Comm_rank(universe.uworld, &universe.me);
  MPI_Comm_size(universe.uworld, &universe.nprocs);
  universe.uni2orig.resize(static_cast<std::size_t>(universe.nprocs));
  program.world = universe.uworld;
  if (program.universal()) {
    for (int rank = 0; rank < universe.nprocs - program.spares; rank += ranks_of_a_world)
      universe.procs_per_world.push_back(ranks_of_a_world);
    universe.procs_per_world.push_back(program.spares);
    universe.iworld = world_of(universe.me);
    MPI_Comm_split(universe.uworld, universe.iworld, 0, &program.world);
  }
  MPI_Comm_rank(program.world, &program.me);
  MPI_Comm_size(program.world, &program.nprocs);
}

// --- the command: processes ----------------------------------------------------------------------------------------

void try_set_up_universe() {
  Universe& universe = program.universe;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Comm_get_info(universe.uworld, &info);
  MPI_Info_set(info, "mpi_error_uniform", "construct");
  MPI_Comm_set_info(universe.uworld, info);
  MPI_Info_free(&info);

  MPI_Group original = MPI_GROUP_NULL;
  MPI_Group now = MPI_GROUP_NULL;
  MPI_Comm_group(universe.uorig, &original);
  MPI_Comm_group(universe.uworld, &now);
  std::vector<int> ranks;
  for (int rank = 0; rank < universe.nprocs; ++rank) ranks.push_back(rank);
  MPI_Group_translate_ranks(now, universe.nprocs, ranks.data(), original, universe.uni2orig.data());
  MPI_Group_free(&original);
  MPI_Group_free(&now);
  require(universe.uni2orig[static_cast<std::size_t>(universe.me)] == program.process, "number in the universe");

  if (program.world != MPI_COMM_NULL) MPI_Comm_free(&program.world);
  const int world = world_of(universe.me);
  require(world == universe.iworld || universe.iworld == universe.nworlds(), "world: a survivor has moved");
  universe.iworld = world;
  MPI_Comm_split(universe.uworld, universe.iworld, 0, &program.world);
  MPI_Barrier(universe.uworld);
  MPI_Comm_rank(program.world, &program.me);
}

void handle_fault() {
  int me = 0;
  if (program.universal()) {
    program.universe.uworld = program.resilient;
    MPI_Comm_rank(program.universe.uworld, &program.universe.me);
    me = program.universe.me;
  } else {
    program.world = program.resilient;
    MPI_Comm_rank(program.world, &program.me);
    me = program.me;
  }
  require(!fenix::fail_list().empty(), "list of failures");
  require(fenix::nspare() >= 0 && fenix::nspare() <= program.spares, "number of spares");
  const int status = fenix::error();
  if (status == FENIX_SUCCESS) return;
  require(status == FENIX_WARNING_SPARE_RANKS_DEPLETED && fenix::nspare() == 0, "error");
  require(!program.universal(), "error: not enough spares");
  if (me == 0) std::printf("warning: not enough spare ranks to maintain initial communicator size\n");
}

/// All data structures are made anew.
void try_recover() {
  program.list = {};
  if (program.universal()) try_set_up_universe();
  MPI_Comm_rank(program.world, &program.me);
  MPI_Comm_size(program.world, &program.nprocs);
}

void recover() {
  while (true) {
    try {
      try_recover();
      return;
    } catch (const fenix::CommException&) {
    }
  }
}

// --- its checkpoints in data groups --------------------------------------------------------------------------------

/// As long as the step says, and full of it.
std::vector<int> list_at(long step) {
  const long length = (program.me + step) % 4 == 0 ? 0 : 5 + program.me + step % 7;
  return std::vector<int>(static_cast<std::size_t>(length), static_cast<int>(step));
}

void create_group() {
  int flag = 0;
  fenix::data::group_create(group_id, program.world, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, &flag);
  require(flag == FENIX_SUCCESS, "group");
}

void create_member(int member, void* data, int count) {
  for (const int id : fenix::data::group_members(group_id).value()) {
    if (id != member) continue;
    int flag = 0;
    Fenix_Data_member_attr_set(group_id, member, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, data, &flag);
    return;
  }
  require(fenix::data::member_create(group_id, member, data, count, MPI_CHAR) == FENIX_SUCCESS, "member");
}

/// From a buffer that lives as long as this call.
void store_list() {
  std::vector<int> packed = program.list;
  const std::size_t bytes = packed.size() * sizeof(int);
  create_member(list_member, packed.data(), FENIX_RESIZEABLE);
  const auto subset = bytes > 0 ? fenix::DataSubset({0, bytes - 1}) : fenix::data::SUBSET_EMPTY;
  require(fenix::data::member_storev(group_id, list_member, subset) == FENIX_SUCCESS, "storev");
}

void checkpoint_in_memory() {
  store_list();
  create_member(meta_member, &program.meta, sizeof program.meta);
  const auto subset = fenix::DataSubset({0, sizeof program.meta - 1});
  require(fenix::data::member_store(group_id, meta_member, subset) == FENIX_SUCCESS, "store");
  require(fenix::data::commit_barrier(group_id) == FENIX_SUCCESS, "commit");
}

/// Asks for the length first. Of the other member, LAMMPS asks for all elements but the last.
void restore_from_memory() {
  constexpr auto latest = FENIX_DATA_SNAPSHOT_LATEST;
  fenix::DataSubset found;
  require(fenix::data::member_restore(group_id, list_member, nullptr, 0, latest, found) == FENIX_SUCCESS, "restore");
  program.list.resize(found.max_count() / sizeof(int));
  if (!program.list.empty()) {
    const int length = static_cast<int>(found.max_count());
    const int code = fenix::data::member_lrestore(group_id, list_member, program.list.data(), length, latest, found);
    require(code == FENIX_SUCCESS, "lrestore");
  }
  const int all_but_one = static_cast<int>(sizeof program.meta) - 1;
  program.meta = {};
  const int code = fenix::data::member_restore(group_id, meta_member, &program.meta, all_but_one, latest,
                                               fenix::data::SUBSET_IGNORE);
  require(code == FENIX_SUCCESS, "restore of what comes with the list");
  require(program.list == list_at(program.meta.step), "list");
}

bool has_checkpoint() {
  const auto snapshots = fenix::data::group_snapshots(group_id);
  return snapshots && !snapshots->empty();
}

// --- its restart files ---------------------------------------------------------------------------------------------

std::string restart_file() { return program.folder + "/restart." + std::to_string(program.universe.iworld); }

/// By the first rank of the world, when all have come as far.
void write_restart() {
  MPI_Barrier(program.world);
  if (program.me != 0) return;
  const std::string unfinished = restart_file() + ".new";
  std::ofstream(unfinished) << program.meta.step << ' ' << program.meta.total << '\n';
  require(std::rename(unfinished.c_str(), restart_file().c_str()) == 0, "restart file");
}

/// The first rank reads, and tells the others. From the beginning if there is none yet.
void read_restart() {
  program.meta = {};
  if (program.me == 0) {
    std::ifstream in(restart_file());
    if (in) in >> program.meta.step >> program.meta.total;
  }
  MPI_Bcast(&program.meta, sizeof program.meta, MPI_CHAR, 0, program.world);
}

// --- its input -----------------------------------------------------------------------------------------------------

void start_from_checkpoint() {
  if (!program.in_memory()) return read_restart();
  create_group();
  program.meta = {};
  if (has_checkpoint()) restore_from_memory();
}

void run() {
  start_from_checkpoint();
  while (program.meta.step < program.steps) {
    if (program.in_memory()) program.list = list_at(program.meta.step);
    if (program.meta.step % checkpoint_every == 0) program.in_memory() ? checkpoint_in_memory() : write_restart();
    long sum = 0;
    for (int item = program.me; item < items; item += program.nprocs)
      sum += item + program.meta.step + 1000 * program.universe.iworld;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, program.world);
    program.meta.total += sum;
    program.meta.step += 1;
  }
}

void die_later(int argc, char** argv) {
  const std::string wanted = std::to_string(program.process) + ":";
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--die-after=", 12) != 0) continue;
    const std::string deaths = std::string(",") + (argv[i] + 12);
    const std::size_t at = deaths.find("," + wanted);
    if (at == std::string::npos) continue;
    const long microseconds = std::atol(deaths.c_str() + at + 1 + wanted.size());
    die_in(std::chrono::microseconds(microseconds));
  }
}

/// The command `fenix`, in the middle of the program. The numbers of ranks that were never told of a failure are those
/// that they had before.
void fenix_command(int argc, char** argv) {
  Universe& universe = program.universe;
  if (program.universal()) universe.procs_per_world.pop_back();
  fenix::set_option(fenix::SPARE_WAIT_MODE, fenix::SLEEP);
  fenix::args::FenixInitArgs arguments;
  arguments.in_comm = program.universal() ? universe.uworld : program.world;
  arguments.out_comm = &program.resilient;
  arguments.spares = program.spares;
  fenix::init(arguments);
  die_later(argc, argv);

  if (program.universal()) {
    universe.uworld = program.resilient;
    MPI_Comm_size(universe.uworld, &universe.nprocs);
  } else {
    program.world = program.resilient;
    MPI_Comm_size(program.world, &program.nprocs);
  }
  fenix::callback_register([](MPI_Comm, int) { handle_fault(); });
  if (program.universal()) {
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
      if (fenix::role() == fenix::INITIAL_RANK && program.universal()) try_set_up_universe();
      run();
      live_on();
      Fenix_Finalize();
      break;
    } catch (const fenix::CommException&) {
      recover();
    }
  }
}

// --- after the command ---------------------------------------------------------------------------------------------

/// The rest of the program uses the communicators that it has, and frees those that it has made.
void clean_up() {
  int me = -1;
  MPI_Comm_rank(program.world, &me);
  int everyone = 1;
  MPI_Allreduce(MPI_IN_PLACE, &everyone, 1, MPI_INT, MPI_SUM, program.world);
  require(me == program.me && everyone == program.nprocs, "communicator after Fenix_Finalize");
  int rank = -1;
  MPI_Comm_rank(program.resilient, &rank);
  std::printf("rank %d: total %ld\n", rank, program.meta.total);
  std::fflush(stdout);
  if (program.universal()) MPI_Comm_free(&program.world);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  program.mode = std::strcmp(argv[1], "one") == 0      ? Mode::one
                 : std::strcmp(argv[1], "files") == 0  ? Mode::files
                 : std::strcmp(argv[1], "worlds") == 0 ? Mode::worlds
                                                       : Mode::universal;
  program.spares = std::atoi(argv[2]);
  program.steps = std::atol(argv[3]);
  program.folder = argv[4];
  MPI_Comm_rank(MPI_COMM_WORLD, &program.process);
  create_universe();
  fenix_command(argc, argv);
  clean_up();
  MPI_Barrier(program.universe.uorig);
  MPI_Finalize();
  return 0;
}
