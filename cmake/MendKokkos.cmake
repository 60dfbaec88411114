# Kokkos 3.4 to 5, from where it is found; else a pinned release is fetched and built.
#   mend_kokkos   link this: Kokkos, its headers as system headers

find_package(Kokkos 5 QUIET)
if(NOT Kokkos_FOUND)
  find_package(Kokkos 4 QUIET)
endif()
if(NOT Kokkos_FOUND)
  find_package(Kokkos QUIET)  # Debian's Trilinos package: 3.4, in an older style of configuration file
endif()

add_library(mend_kokkos INTERFACE)
# Debian's Trilinos package defines Kokkos::kokkos too, but with an include folder that does not exist.
if(TARGET Kokkos::kokkos AND NOT Kokkos_LIBRARIES MATCHES "trilinos")
  message(STATUS "Kokkos ${Kokkos_VERSION} from ${Kokkos_DIR}")
  target_link_libraries(mend_kokkos INTERFACE Kokkos::kokkos)
elseif(Kokkos_FOUND)
  message(STATUS "Kokkos ${Kokkos_VERSION} (Trilinos) from ${Kokkos_DIR}")
  target_include_directories(mend_kokkos SYSTEM INTERFACE ${Kokkos_INCLUDE_DIRS})
  find_library(MEND_TRILINOS_KOKKOS_CORE NAMES trilinos_kokkoscore kokkoscore HINTS ${Kokkos_LIBRARY_DIRS} REQUIRED)
  target_link_libraries(mend_kokkos INTERFACE ${MEND_TRILINOS_KOKKOS_CORE} Threads::Threads ${CMAKE_DL_LIBS})
else()
  message(STATUS "Kokkos not found: fetching release 4.6.01")
  include(FetchContent)
  FetchContent_Declare(kokkos
    URL https://github.com/kokkos/kokkos/releases/download/4.6.01/kokkos-4.6.01.tar.gz
    URL_HASH SHA256=b9d70e4653b87a06dbb48d63291bf248058c7c7db4bd91979676ad5609bb1a3a)
  FetchContent_MakeAvailable(kokkos)
  target_link_libraries(mend_kokkos INTERFACE Kokkos::kokkos)
endif()
