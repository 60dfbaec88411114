// A program in C++ may include fenix.h alone: namespace fenix comes with it, as in Fenix.

#include <fenix.h>

#include <gmock/gmock.h>

namespace {

TEST(FenixHeader, brings_namespace_fenix_in_cpp) {
  EXPECT_FALSE(fenix::initialized());
  EXPECT_EQ(fenix::DataSubset({0, 4}).max_count(), 5U);
  EXPECT_EQ(fenix::data::SUBSET_EMPTY, fenix::DataSubset());
}

}  // namespace
