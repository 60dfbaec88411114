// Kokkos is initialised before the first test and finalised after the last one.

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

namespace {

class KokkosEnvironment final : public testing::Environment {
  void SetUp() override { Kokkos::initialize(); }
  void TearDown() override { Kokkos::finalize(); }
};

[[maybe_unused]] testing::Environment* const kokkos = testing::AddGlobalTestEnvironment(new KokkosEnvironment);

}  // namespace
