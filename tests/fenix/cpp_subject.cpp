// Fenix for C++ as of 2026: every function on processes, and those on data that C has in another form. 4 ranks, of
// which the ones that are named die; with no spare left the others close up.

#include <fenix.hpp>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "checks.h"
#include "die.h"

namespace {

namespace data = fenix::data;
using fenix::DataSubset;

constexpr int group = 3;
constexpr int growing_id = 1;
constexpr int streamed_id = 2;
constexpr int text_id = 3;

MPI_Comm comm = MPI_COMM_NULL;
int before_recovery = 0;
int after_recovery = 0;

template <class Call>
int thrown_by(const Call& call) {
  try {
    call();
  } catch (const fenix::RuntimeException& refused) {
    return refused.error;
  }
  return 0;
}

void check_subsets() {
  const DataSubset a({2, 4});
  const DataSubset b({6, 6});
  CHECK((a + b).count(DataSubset::MAX) == 4 && (a + b).max_count() == 7 && (a + b).range() == DataSubset::Block(2, 6));
  CHECK(a + DataSubset({5, 5}) + b == DataSubset({2, 6}) && a != b);
  CHECK(DataSubset({0, 9}) - a == DataSubset(std::vector<DataSubset::Block>{{0, 1}, {5, 9}}));
  CHECK(DataSubset({0, 1}, 3, 4).str() == "[0, 1] [4, 5] [8, 9]");
  CHECK(DataSubset(DataSubset::MAX).bounded(5) == DataSubset(5) && !data::SUBSET_FULL.is_bounded());
  CHECK(a.includes(3) && !a.includes(5) && DataSubset(5).includes_all(5) && data::SUBSET_EMPTY.empty());
  DataSubset sum = a;
  sum += FENIX_DATA_SUBSET_FULL;
  CHECK(sum == data::SUBSET_FULL && sum.bound(1) == DataSubset(1));
  const int first = 3;
  const int last = -1;
  bool is_refused = false;
  try {
    static_cast<void>(DataSubset(1, &first, &last));
  } catch (const std::invalid_argument&) {
    is_refused = true;
  }
  CHECK(is_refused);
}

/// The vector grows and shrinks; the stream is what a lambda writes.
void define_members(std::vector<int>& growing, std::string& text) {
  data::member_define(group, growing_id, growing.data(), FENIX_RESIZEABLE, MPI_INT);
  data::member_define(group, streamed_id, nullptr, FENIX_RESIZEABLE, MPI_CHAR,
                      [&text](std::iostream& stream, int direction, void*, int, int) {
                        if (direction == FENIX_SERIALIZE) {
                          stream << text << '\n';
                        } else {
                          std::getline(stream, text);
                        }
                      });
  data::member_define(group, text_id, nullptr, FENIX_RESIZEABLE, MPI_CHAR);
}

void commit(std::vector<int>& growing, std::size_t size, const std::string& word) {
  growing.assign(size, rank);
  int flag = 0;
  data::member_attr_set(group, growing_id, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, growing.data(), &flag);
  std::iostream* stream = nullptr;
  data::member_stage_begin(group, text_id, &stream);
  *stream << word << ' ' << rank;
  data::member_stage_end(group, text_id);
  data::member_storev(group, growing_id, DataSubset({0, size - 1}));
  data::member_store(group, streamed_id);
  data::commit_barrier(group);
}

void check_data() {
  std::vector<int> growing(64);
  std::string text;
  int flag = 0;
  void* buffer = nullptr;
  data::group_create(group, {.depth = 1});
  define_members(growing, text);
  DataSubset found;
  data::member_restore(group, growing_id, nullptr, 0, FENIX_DATA_SNAPSHOT_LATEST, found);
  CHECK(found.max_count() == 5);
  CHECK(data::member_lrestore(group, growing_id, growing.data(), 5, FENIX_DATA_SNAPSHOT_LATEST, found) ==
        FENIX_SUCCESS);
  CHECK(growing[4] == rank && growing[5] == 0);
  data::member_load(group, streamed_id);
  CHECK(text == "text of " + std::to_string(rank));
  std::iostream* stream = nullptr;
  data::member_load_begin(group, text_id, &stream);
  std::string word;
  int number = -1;
  *stream >> word >> number;
  data::member_load_end(group, text_id);
  CHECK(word == "second" && number == rank);
  CHECK(data::group_members(group) == std::vector<int>({growing_id, streamed_id, text_id}));
  CHECK(data::group_snapshots(group)->size() == 2 && !data::group_snapshots(4711));
  CHECK(data::member_attr_get(group, growing_id, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, &buffer, &flag) == FENIX_SUCCESS);
  CHECK(flag == FENIX_SUCCESS && buffer == growing.data());
  CHECK(thrown_by([] { data::member_delete(group, 4711); }) == FENIX_ERROR_INVALID_MEMBERID);
}

/// What is left, after a failure: on a group of its own.
void check_other_group() {
  constexpr int other = 9;
  constexpr int number_id = 1;
  constexpr int list_id = 2;
  int number = rank;
  int target = -1;
  Fenix_Request request;
  CHECK(!data::group_created(other));
  data::group_create(other, {.depth = 2});
  data::member_create(other, number_id, &number, 1, MPI_INT);
  std::string list;
  data::member_create(other, list_id, nullptr, FENIX_RESIZEABLE, MPI_CHAR,
                      [&list](FILE* file, int direction, void*, int, int count) {
                        if (direction == FENIX_SERIALIZE) {
                          std::fputs(list.c_str(), file);
                        } else {
                          list.resize(static_cast<std::size_t>(count));
                          CHECK(std::fread(list.data(), 1, list.size(), file) == list.size());
                        }
                      });
  CHECK(data::group_created(other) && data::member_created(other, list_id));
  list = "first of " + std::to_string(rank);
  data::checkpoint(other, data::SUBSET_FULL, {list_id});
  number = rank + 10;
  list = "second";
  data::checkpointv(other, data::SUBSET_FULL);
  number = rank + 20;
  data::member_stage(other, number_id);
  data::member_istore(other, number_id, data::SUBSET_PRESTAGED, &request);
  data::member_istorev(other, number_id, data::SUBSET_PRESTAGED, &request);
  int* given = static_cast<int*>(std::malloc(sizeof(int)));
  *given = rank + 30;
  data::member_stage_inplace(other, number_id, given);
  int stamp = -1;
  data::commit(other, &stamp);
  CHECK(stamp == 2);
  data::member_repair(other, number_id);
  CHECK(data::member_load(other, number_id, &target) == FENIX_SUCCESS && target == rank + 30);
  data::member_load(other, list_id, FENIX_DATA_SNAPSHOT_ALL);
  CHECK(list == "second");
  data::member_restore(other, list_id, FENIX_DATA_RESTORE_INPLACE, FENIX_DATA_RESTORE_FULL, 0);
  CHECK(list == "first of " + std::to_string(rank));
  MPI_Group cohort = data::group_cohort(other);
  int size = 0;
  MPI_Group_size(cohort, &size);
  MPI_Group_free(&cohort);
  CHECK(size == 4);
  data::snapshot_delete(other, 0);
  CHECK(data::group_snapshots(other) == std::vector<int>({2, 1}));
  data::member_delete(other, list_id);
  data::group_delete(other);
  CHECK(!data::group_created(other));
}

/// `dead` died, and `missing` of these were not taken over.
void check_processes(const std::vector<int>& dead, int missing, int spares) {
  CHECK(fenix::fail_list() == dead);
  CHECK(fenix::nspare() == spares && fenix::n_ranks_with_role(fenix::SPARE_RANK) == spares);
  CHECK(fenix::n_ranks_with_role(fenix::MISSING_RANK) == missing);
  CHECK(fenix::error() == (missing > 0 ? FENIX_WARNING_SPARE_RANKS_DEPLETED : FENIX_SUCCESS));
  CHECK(fenix::rank_role(comm, rank) == fenix::role());
  CHECK(fenix::rank_to_slot(comm, rank) == fenix::slot() && fenix::slot_to_rank(comm, fenix::slot()) == rank);
  CHECK(fenix::rank_to_slot(comm, 99) == MPI_UNDEFINED && Fenix_get_slot() == fenix::slot());

  // Ranks 0 to 3 of the launch, as they are now.
  int size = 0;
  MPI_Comm_size(comm, &size);
  MPI_Group launched = MPI_GROUP_NULL;
  MPI_Group now = MPI_GROUP_NULL;
  MPI_Group first_four = MPI_GROUP_NULL;
  const std::vector<int> four{0, 1, 2, 3};
  MPI_Comm_group(MPI_COMM_WORLD, &launched);
  MPI_Comm_group(comm, &now);
  MPI_Group_incl(launched, 4, four.data(), &first_four);
  MPI_Group repaired = fenix::repair_group(first_four);
  int result = MPI_UNEQUAL;
  MPI_Group_compare(repaired, now, &result);
  CHECK(result == MPI_IDENT);
  for (MPI_Group* group_of_mpi : {&launched, &now, &first_four, &repaired}) MPI_Group_free(group_of_mpi);
}

void check_settings() {
  fenix::set_option(fenix::SPARE_WAIT_MODE, fenix::SLEEP);
  CHECK(fenix::get_option(fenix::SPARE_WAIT_MODE) == fenix::SLEEP);
  CHECK(thrown_by([] { fenix::set_option(fenix::RECOVERY_MODE, FENIX_RECOVERY_MODE_MAXCODE); }) ==
        FENIX_ERROR_INVALID_SETTING_OPTION);
  CHECK(thrown_by([] { fenix::callback_pop(); }) == FENIX_ERROR_UNINITIALIZED);
  CHECK(!fenix::initialized() && !fenix::finalized());
  CHECK(Fenix::register_exception_callback() == FENIX_SUCCESS && fenix::get_option(fenix::RESUME_MODE) == fenix::THROW);
}

void register_callbacks() {
  fenix::callback_register([](MPI_Comm, int error) {
    ++after_recovery;
    CHECK(error != MPI_SUCCESS);
  });
  // The communicator is broken still: its calls return errors, and what a callback throws comes after the recovery.
  fenix::callback_register(
      [](MPI_Comm broken, int) {
        ++before_recovery;
        fenix::comm_revoke(broken);
        CHECK(MPI_Barrier(broken) != MPI_SUCCESS);
      },
      fenix::PRE_RECOVERY);
  fenix::callback_register([](MPI_Comm, int) {}, fenix::PRE_RECOVERY);
  CHECK(fenix::callback_pop(fenix::PRE_RECOVERY) == FENIX_SUCCESS);
}

void play(int phase) {
  std::vector<int> growing;
  std::string text = "text of " + std::to_string(rank);
  if (phase == 0) {
    data::group_create(group, {.depth = 1});
    define_members(growing, text);
    commit(growing, 9, "first");
    commit(growing, 5, "second");
    die_at("half", 0, rank);
  } else {
    die_at("again", 0, rank);
  }
  while (fenix::detect_failures() == MPI_SUCCESS) {
  }
}

}  // namespace

int main(int argc, char** argv) {
  read_deaths(argc, argv);
  MPI_Init(&argc, &argv);
  check_subsets();
  check_settings();
  int role = -1;
  fenix::init({.role = &role, .out_comm = &comm, .argc = &argc, .argv = &argv, .spares = 1});
  CHECK(fenix::get_option(fenix::RESUME_MODE) == fenix::THROW && fenix::initialized());
  register_callbacks();
  bool took_over = role == fenix::RECOVERED_RANK;
  const bool was_first = !took_over;
  int phase = 0;
  while (phase < 2) {
    MPI_Comm_rank(comm, &rank);
    try {
      if (took_over) {
        took_over = false;
        fenix::throw_exception();
      }
      play(phase);
    } catch (const fenix::CommException& failure) {
      CHECK(failure.repaired_comm == comm && failure.fenix_err == fenix::error());
      MPI_Comm_rank(comm, &rank);
      if (phase == 0) {
        check_processes({2}, 0, 0);
        check_data();
        check_other_group();
      } else {
        check_processes({1}, 1, 0);
        CHECK(fenix::slot() == (rank == 0 ? 0 : rank + 1));
      }
      ++phase;
    }
  }
  CHECK(before_recovery == (was_first ? 2 : 1) && after_recovery == before_recovery);
  fenix::callback_invoke_all();
  fenix::callback_invoke_all(fenix::PRE_RECOVERY);
  CHECK(before_recovery == (was_first ? 3 : 2));
  CHECK(Fenix_Finalize() == FENIX_SUCCESS && fenix::finalized());
  MPI_Finalize();
  std::printf("rank %d: %d checks failed\n", rank, failed);
  return failed != 0 ? 1 : 0;
}
