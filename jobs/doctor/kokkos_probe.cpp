// Reports the Kokkos with which mend's programs are built, and tests a computation with it.

#include <Kokkos_Core.hpp>

#include <cstdio>

namespace {

constexpr const char* back_ends =
    ""
#ifdef KOKKOS_ENABLE_SERIAL
    " Serial"
#endif
#ifdef KOKKOS_ENABLE_THREADS
    " Threads"
#endif
#ifdef KOKKOS_ENABLE_OPENMP
    " OpenMP"
#endif
#ifdef KOKKOS_ENABLE_CUDA
    " Cuda"
#endif
#ifdef KOKKOS_ENABLE_HIP
    " HIP"
#endif
#ifdef KOKKOS_ENABLE_SYCL
    " SYCL"
#endif
    ;

}  // namespace

int main(int argc, char** argv) {
  Kokkos::initialize(argc, argv);
  long sum = 0;
  Kokkos::parallel_reduce(
      1000, KOKKOS_LAMBDA(int i, long& part) { part += i; }, sum);
  const char* const computes_on = Kokkos::DefaultExecutionSpace::name();
  Kokkos::finalize();
  if (sum != 499500) return 1;
  std::printf("Kokkos %d.%d.%d:%s; computes on %s\n", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100,
              KOKKOS_VERSION % 100, back_ends, computes_on);
  return 0;
}
