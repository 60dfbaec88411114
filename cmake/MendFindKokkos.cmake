# Kokkos 3.4 to 5, from where it is found.
#   mend_use_kokkos(TARGET)   has the interface library TARGET link it, its headers as system headers
#   MEND_HAS_KOKKOS           whether there is one

find_package(Kokkos 5 QUIET)
if(NOT Kokkos_FOUND)
  find_package(Kokkos 4 QUIET)
endif()
if(NOT Kokkos_FOUND)
  find_package(Kokkos QUIET)  # Debian's Trilinos package: 3.4, in an older style of configuration file
endif()
set(MEND_HAS_KOKKOS ${Kokkos_FOUND})

macro(mend_use_kokkos target)
  # Debian's Trilinos package defines Kokkos::kokkos too, but with an include folder that does not exist.
  if(TARGET Kokkos::kokkos AND NOT Kokkos_LIBRARIES MATCHES "trilinos")
    target_link_libraries(${target} INTERFACE Kokkos::kokkos)
  else()
    target_include_directories(${target} SYSTEM INTERFACE ${Kokkos_INCLUDE_DIRS})
    find_library(MEND_TRILINOS_KOKKOS_CORE NAMES trilinos_kokkoscore kokkoscore HINTS ${Kokkos_LIBRARY_DIRS} REQUIRED)
    target_link_libraries(${target} INTERFACE ${MEND_TRILINOS_KOKKOS_CORE} Threads::Threads ${CMAKE_DL_LIBS})
  endif()
endmacro()
