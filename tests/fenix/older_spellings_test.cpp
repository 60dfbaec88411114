// What programs of 2025 say: LAMMPS's package in its first version, kokkos-resilience. They are compiled here, and run
// with real deaths in other spellings.

#include <fenix_exception.hpp>
#include <fenix_ext.h>
#include <fenix.hpp>

#include <gmock/gmock.h>

#include <type_traits>

using namespace Fenix;
using namespace Fenix::Data;

namespace {

int store_and_restore(int group, int member, void* buffer, int length) {
  const DataSubset subset = length > 0 ? DataSubset({0, length - 1}) : SUBSET_EMPTY;
  const int stored = member_store(group, member, subset);
  if (stored != FENIX_SUCCESS) return stored;
  DataSubset found;
  member_restore(group, member, nullptr, 0, FENIX_DATA_SNAPSHOT_LATEST, found);
  return member_restore(group, member, buffer, length - 1, FENIX_DATA_SNAPSHOT_LATEST, SUBSET_IGNORE);
}

int code_of(int code) {
  try {
    return code;
  } catch (const fenix::RuntimeException& refused) {
    return refused.error;
  }
}

TEST(OlderSpellings, mean_the_same_things) {
  static_assert(std::is_same_v<Fenix::CommException, fenix::CommException>);
  static_assert(std::is_same_v<Fenix::Args::FenixInitArgs, fenix::args::FenixInitArgs>);
  static_assert(std::is_same_v<Fenix::DataSubset, fenix::DataSubset>);
  static_assert(std::is_same_v<decltype(init({.spares = 1})), void>);  // it is no ambiguous call
  EXPECT_EQ(Fenix::THROW, FENIX_RESUME_THROW);
  const Fenix::Args::FenixInitArgs args{.spares = 1, .resume_mode = Fenix::RETURN, .unhandled_mode = Fenix::PRINT};
  EXPECT_EQ(args.resume_mode, FENIX_RESUME_RETURN);
}

TEST(OlderSpellings, are_refused_with_a_code_where_there_is_no_job) {
  int value = 0;
  EXPECT_THROW(store_and_restore(1, 1, &value, 1), fenix::RuntimeException);
  EXPECT_EQ(code_of(Fenix_Data_member_define(1, 1, &value, 1, MPI_INT)), FENIX_ERROR_UNINITIALIZED);
  EXPECT_EQ(group_members(1), std::nullopt);
  EXPECT_THROW(Fenix_Callback_register([&](MPI_Comm, int) { ++value; }), fenix::RuntimeException);
}

}  // namespace
