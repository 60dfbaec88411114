// Linked into a test program, has Kokkos running while its tests do.

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

namespace {

class KokkosEnvironment final : public testing::Environment {
  void SetUp() override { Kokkos::initialize(); }
  void TearDown() override { Kokkos::finalize(); }
};

// GoogleTest takes ownership.
[[maybe_unused]] const auto* const environment = testing::AddGlobalTestEnvironment(new KokkosEnvironment);

}  // namespace
