# Finds an installed Kokkos, 3.4 to 5.
#   mend_use_kokkos(TARGET)   links the interface library TARGET to it, with its headers as system headers
#   MEND_HAS_KOKKOS           true if it was found

# Kokkos's configuration file warns about the compiler's extensions and switches them off in the project's cache, unless
# they are off already. So they are switched off while it is read.
set(_mend_extensions_defined FALSE)
if(DEFINED CMAKE_CXX_EXTENSIONS)
  set(_mend_extensions_defined TRUE)
  set(_mend_extensions "${CMAKE_CXX_EXTENSIONS}")
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
find_package(Kokkos 5 QUIET)
if(NOT Kokkos_FOUND)
  find_package(Kokkos 4 QUIET)
endif()
if(NOT Kokkos_FOUND)
  find_package(Kokkos QUIET)  # Debian's Trilinos package: 3.4, in an older style of configuration file
endif()
set(MEND_HAS_KOKKOS ${Kokkos_FOUND})
unset(CMAKE_CXX_EXTENSIONS)
if(_mend_extensions_defined)
  set(CMAKE_CXX_EXTENSIONS "${_mend_extensions}")
endif()

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
