// What may be changed of a member of a data group and when, what Fenix tells of it, and what is found of it at which
// time stamp: as in Fenix as of 2026. On 4 ranks, of which rank 1 dies between two halves.

#include <fenix.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <numeric>
#include <vector>

#include "play.hpp"

namespace {

namespace data = fenix::data;

constexpr int group = 0;
enum Member { counted, typed, plain, partial, own_type, written, resizable, spaced };
constexpr int latest = FENIX_DATA_SNAPSHOT_LATEST;

MPI_Comm comm = MPI_COMM_NULL;
std::vector<int> values(100);
int serialized = 0;

void fill(int first) { std::iota(values.begin(), values.end(), first); }

/// Returns true if the first `count` elements are as fill() left them, and all others are -9.
bool are_restored(std::size_t count, int first) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != (i < count ? first + static_cast<int>(i) : -9)) return false;
  }
  return true;
}

int restore_all(int member, int time_stamp) {
  values.assign(values.size(), -9);
  return code_of([&] {
    return data::member_restore(group, member, FENIX_DATA_RESTORE_INPLACE, FENIX_DATA_RESTORE_FULL, time_stamp);
  });
}

int set(int member, int attribute, void* value) {
  int flag = 4711;
  const int code = code_of([&] { return data::member_attr_set(group, member, attribute, value, &flag); });
  CHECK(flag == code);
  return code;
}
int set_count(int member, int count) { return set(member, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &count); }
int set_type(int member, MPI_Datatype type) { return set(member, FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE, &type); }

template <class Value>
Value get(int member, int attribute) {
  Value value{};
  int flag = 4711;
  CHECK(code_of([&] { return data::member_attr_get(group, member, attribute, &value, &flag); }) == FENIX_SUCCESS);
  CHECK(flag == FENIX_SUCCESS);
  return value;
}

// --- the first half ------------------------------------------------------------------------------------------------

void check_policies() {
  int flag = 4711;
  int name = 0;
  std::array<int, 3> policy{-1, -1, -1};
  CHECK(Fenix_Data_group_get_redundancy_policy(group, &name, policy.data(), &flag) == FENIX_SUCCESS);
  CHECK(flag == FENIX_SUCCESS && name == FENIX_DATA_POLICY_IN_MEMORY_RAID);
  CHECK(policy[0] == 1 && policy[1] == 2);  // the default: half of the ranks apart
  CHECK(Fenix_Data_group_get_redundancy_policy(99, &name, policy.data(), &flag) == FENIX_ERROR_INVALID_GROUPID);
  CHECK(flag == FENIX_ERROR_INVALID_GROUPID);
  policy = {5, 1, 9};  // more than there are ranks
  CHECK(Fenix_Data_group_create(1, comm, 0, 0, FENIX_DATA_POLICY_IMR, policy.data(), &flag) ==
        FENIX_ERROR_INVALID_POLICY_VALUE);
  policy = {5, 1, 3};
  CHECK(Fenix_Data_group_create(1, comm, 0, 0, FENIX_DATA_POLICY_IMR, policy.data(), &flag) == FENIX_SUCCESS);
  CHECK(Fenix_Data_group_get_redundancy_policy(1, &name, policy.data(), &flag) == FENIX_SUCCESS && policy[2] == 3);
}

/// Before a member has data, everything may change.
void create_members() {
  data::member_create(group, counted, values.data(), 100, MPI_INT);
  CHECK(set_count(counted, 50) == FENIX_SUCCESS);
  data::member_create(group, typed, values.data(), 50, MPI_2INT);
  CHECK(get<std::size_t>(typed, FENIX_DATA_MEMBER_ATTRIBUTE_SIZE) == 400);
  CHECK(set_type(typed, MPI_INT) == FENIX_SUCCESS);
  CHECK(get<std::size_t>(typed, FENIX_DATA_MEMBER_ATTRIBUTE_SIZE) == 200);
  data::member_create(group, plain, values.data(), 100, MPI_INT);
  data::member_create(group, partial, values.data(), 100, MPI_INT);
  data::member_create(group, resizable, values.data(), FENIX_RESIZEABLE, MPI_INT);
  CHECK(set_count(plain, -1) == FENIX_ERROR_INVALID_ATTRIBUTE_VALUE);

  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  data::member_create(group, own_type, values.data(), 50, pair);
  MPI_Type_free(&pair);  // the member has a duplicate

  const auto count_calls = [](std::iostream& stream, int direction, void* buffer, int first, int number) {
    ++serialized;
    auto* const at = static_cast<char*>(buffer) + static_cast<std::size_t>(first) * sizeof(int);
    const auto bytes = static_cast<std::streamsize>(static_cast<std::size_t>(number) * sizeof(int));
    if (direction == FENIX_SERIALIZE) stream.write(at, bytes);
    if (direction == FENIX_DESERIALIZE) stream.read(at, bytes);
  };
  data::member_define(group, written, values.data(), 100, MPI_INT, data::SerializeStreamFunc(count_calls));
  data::member_define(group, written, values.data(), 100, MPI_INT);  // takes it away
}

void commit_twice() {
  for (const int first : {1000 * rank, 1000 * rank + 7}) {
    fill(first);
    for (const int member : {counted, typed, plain, own_type, written}) data::member_store(group, member);
    data::member_store(group, partial, fenix::DataSubset({0, 9}));
    data::member_storev(group, resizable, fenix::DataSubset({0, static_cast<std::size_t>(rank)}));
    data::commit(group);
  }
  CHECK(serialized == 0);
}

// --- both halves ---------------------------------------------------------------------------------------------------

void check_restored(int first) {
  CHECK(restore_all(counted, latest) == FENIX_SUCCESS && are_restored(50, first));
  CHECK(restore_all(typed, latest) == FENIX_SUCCESS && are_restored(50, first));
  CHECK(restore_all(written, latest) == FENIX_SUCCESS && are_restored(100, first));
  CHECK(restore_all(own_type, latest) == FENIX_SUCCESS && are_restored(100, first));
  // All that is there, though the member has more elements; and all that is there, though fewer are asked for.
  CHECK(restore_all(partial, latest) == FENIX_SUCCESS && are_restored(10, first));
  fenix::DataSubset found;
  const auto restore_some = [&](int count) {
    values.assign(values.size(), -9);
    return code_of([&] { return data::member_lrestore(group, partial, values.data(), count, latest, found); });
  };
  CHECK(restore_some(4) == FENIX_SUCCESS && are_restored(4, first) && found == fenix::DataSubset({0, 9}));
  CHECK(restore_some(11) == FENIX_WARNING_PARTIAL_RESTORE && are_restored(10, first));
}

void check_time_stamps(int first) {
  CHECK(restore_all(plain, 0) == FENIX_SUCCESS && are_restored(100, first - 7));
  CHECK(restore_all(plain, 1) == FENIX_SUCCESS && are_restored(100, first));
  CHECK(restore_all(plain, FENIX_TIME_STAMP_MAX) == FENIX_SUCCESS && are_restored(100, first));
  CHECK(restore_all(plain, 4) == FENIX_ERROR_NODATA_FOUND && are_restored(0, 0));
  CHECK(restore_all(plain, -7) == FENIX_ERROR_INVALID_TIMESTAMP && are_restored(0, 0));
  CHECK(code_of([] { return data::member_load(group, plain, 4); }) == FENIX_ERROR_NODATA_FOUND);
  FILE* file = nullptr;
  CHECK(code_of([&] { return data::member_load_begin(group, plain, &file, -7); }) == FENIX_ERROR_INVALID_TIMESTAMP);
  const auto from_next = [](int time_stamp) {
    const int next = (rank + 1) % 4;
    return Fenix_Data_member_restore_from_rank(group, plain, values.data(), 100, time_stamp, nullptr, next);
  };
  CHECK(from_next(1) == FENIX_SUCCESS && values[0] == 1000 * ((rank + 1) % 4) + 7);
  CHECK(from_next(4) == FENIX_ERROR_NODATA_FOUND && from_next(-7) == FENIX_ERROR_INVALID_TIMESTAMP);
  CHECK(code_of([] { return data::snapshot_delete(group, -1); }) == FENIX_ERROR_INVALID_TIMESTAMP);
  CHECK(code_of([] { return data::snapshot_delete(group, 4); }) == FENIX_ERROR_INVALID_TIMESTAMP);
}

/// A member that has data keeps its number of elements, and their size.
void check_fixed() {
  CHECK(set_count(plain, 50) == FENIX_ERROR_INVALID_LOGIC_CALL);
  CHECK(set_count(plain, 100) == FENIX_SUCCESS);
  CHECK(set_count(resizable, 50) == FENIX_ERROR_INVALID_LOGIC_CALL);
  CHECK(set_type(plain, MPI_DOUBLE) == FENIX_ERROR_INVALID_LOGIC_CALL);
  CHECK(set_type(plain, MPI_FLOAT) == FENIX_SUCCESS && set_type(plain, MPI_INT) == FENIX_SUCCESS);
  const auto define = [](int count, MPI_Datatype type) {
    return code_of([&] { return data::member_define(group, plain, values.data(), count, type); });
  };
  CHECK(define(50, MPI_INT) == FENIX_ERROR_INVALID_LOGIC_CALL);
  CHECK(define(100, MPI_DOUBLE) == FENIX_ERROR_INVALID_LOGIC_CALL);
  CHECK(define(100, MPI_INT) == FENIX_SUCCESS);
}

void check_attributes() {
  CHECK(get<void*>(plain, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER) == values.data());
  CHECK(get<int>(plain, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT) == 100);
  CHECK(get<std::size_t>(plain, FENIX_DATA_MEMBER_ATTRIBUTE_SIZE) == 400);
  CHECK(get<int>(resizable, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT) == FENIX_RESIZEABLE);
  CHECK(get<std::size_t>(resizable, FENIX_DATA_MEMBER_ATTRIBUTE_SIZE) == std::numeric_limits<std::size_t>::max());
  for (const int member : {plain, own_type}) {
    auto type = get<MPI_Datatype>(member, FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE);
    int size = 0;
    MPI_Type_size(type, &size);
    CHECK(size == (member == plain ? 4 : 8));
    MPI_Type_free(&type);  // a duplicate
  }
  int flag = 4711;
  int value = 0;
  CHECK(Fenix_Data_member_attr_get(group, plain, 4711, &value, &flag) == FENIX_ERROR_INVALID_ATTRIBUTE_NAME);
  CHECK(flag == FENIX_ERROR_INVALID_ATTRIBUTE_NAME);
  CHECK(Fenix_Data_member_attr_get(group, 4711, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &value, &flag) ==
        FENIX_ERROR_INVALID_MEMBERID);
}

/// A process that has taken over a rank knows of its members, but not of types of the program's own, nor of buffers.
void meet_members() {
  MPI_Datatype type = MPI_INT;
  int flag = 4711;
  const auto get_type = [&] {
    return data::member_attr_get(group, own_type, FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE, &type, &flag);
  };
  CHECK(code_of(get_type) == FENIX_ERROR_NODATA_FOUND && type == MPI_DATATYPE_NULL);
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  CHECK(set_type(own_type, pair) == FENIX_SUCCESS);
  MPI_Type_free(&pair);
  for (const int member : {counted, typed, plain, partial, own_type, written, resizable})
    CHECK(set(member, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, values.data()) == FENIX_SUCCESS);
}

/// A member that is created again has no data yet, whatever its elements are.
void check_created_again() {
  for (const MPI_Datatype type : {MPI_INT, MPI_DOUBLE}) {
    data::member_delete(group, plain);
    data::member_create(group, plain, values.data(), 50, type);
    CHECK(restore_all(plain, latest) == FENIX_ERROR_NODATA_FOUND && are_restored(0, 0));
    CHECK(restore_all(plain, FENIX_DATA_SNAPSHOT_ALL) == FENIX_ERROR_NODATA_FOUND);
  }
}

/// Elements that are the last third of a point each: the buffer ends with the last of them. Elements as the columns of
/// a matrix overlap.
void check_types() {
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Datatype numbers = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, 4, MPI_INT, &numbers);
  MPI_Type_create_resized(numbers, 0, sizeof(int), &column);
  const auto create = [](MPI_Datatype type) {
    return code_of([&] { return data::member_create(group, spaced, values.data(), 4, type); });
  };
  CHECK(create(column) == FENIX_ERROR_MEMBER_CREATE && !data::member_created(group, spaced));
  CHECK(create(MPI_INT) == FENIX_SUCCESS && set_type(spaced, column) == FENIX_ERROR_MEMBER_CREATE);
  data::member_delete(group, spaced);

  MPI_Datatype third = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_DOUBLE, 0, 3 * sizeof(double), &third);
  std::array<double, 8> points{0, 1, 2, 3, 4, 5, 6, 7};  // two points, and what lies beyond them
  data::member_create(group, spaced, &points[2], 2, third);
  data::member_store(group, spaced);
  data::commit(group);
  points.fill(-1);
  CHECK(code_of([] { return data::member_load(group, spaced); }) == FENIX_SUCCESS);
  CHECK(points[2] == 2 && points[5] == 5 && points[6] == -1 && points[7] == -1);
  data::member_delete(group, spaced);
  for (MPI_Datatype* type : {&column, &numbers, &third}) MPI_Type_free(type);
}

void check() {
  check_restored(1000 * rank + 7);
  check_time_stamps(1000 * rank + 7);
  check_fixed();
  check_attributes();
}

}  // namespace

int main(int argc, char** argv) {
  read_deaths(argc, argv);
  MPI_Init(&argc, &argv);
  fenix::init({.out_comm = &comm, .argc = &argc, .argv = &argv, .spares = 1});
  const bool takes_over = fenix::role() == fenix::RECOVERED_RANK;
  MPI_Comm_rank(comm, &rank);
  try {
    if (takes_over) fenix::throw_exception();
    data::group_create(group, {.depth = 1});
    check_policies();
    create_members();
    commit_twice();
    check();
    MPI_Barrier(comm);
    die_at("half", 0, rank);
    MPI_Barrier(comm);
  } catch (const fenix::CommException&) {
    data::group_create(group, {.depth = 1});
    if (takes_over) meet_members();
    check();
  }
  check_created_again();
  check_types();
  Fenix_Finalize();
  std::printf("rank %d: %d checks failed\n", rank, failed);
  MPI_Finalize();
  return failed != 0 ? 1 : 0;
}
