# An installed Kokkos (MendFindKokkos.cmake); without one, a pinned release is fetched and built.
#   mend_kokkos   link this; its headers are system headers

include(MendFindKokkos)
add_library(mend_kokkos INTERFACE)
if(MEND_HAS_KOKKOS)
  message(STATUS "Kokkos ${Kokkos_VERSION} from ${Kokkos_DIR}")
  mend_use_kokkos(mend_kokkos)
else()
  message(STATUS "Kokkos not found: fetching release 4.6.01")
  include(FetchContent)
  FetchContent_Declare(kokkos
    URL https://github.com/kokkos/kokkos/releases/download/4.6.01/kokkos-4.6.01.tar.gz
    URL_HASH SHA256=b9d70e4653b87a06dbb48d63291bf248058c7c7db4bd91979676ad5609bb1a3a)
  FetchContent_MakeAvailable(kokkos)
  target_link_libraries(mend_kokkos INTERFACE Kokkos::kokkos)
endif()

# With CUDA, Kokkos has nvcc compile what links to it. nvcc takes the format strings of fmt for constants only if it need
# not prove them, and knows neither -Og nor -Wpedantic.
set(MEND_KOKKOS_IS_CUDA FALSE)
if("CUDA" IN_LIST Kokkos_DEVICES)
  set(MEND_KOKKOS_IS_CUDA TRUE)
  target_compile_definitions(mend_kokkos INTERFACE FMT_CONSTEVAL= FMT_USE_CONSTEXPR=1)
endif()
