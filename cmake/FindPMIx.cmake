# Finds the PMIx that Open MPI itself uses, because mend's witness must get the same events as the library. Open MPI's
# bundled copy is in its prefix; an external one is known to pkg-config.
#   PMIx::PMIx   the library

get_filename_component(_pmix_mpi_bin "${MPI_CXX_COMPILER}" DIRECTORY)
get_filename_component(_pmix_mpi_prefix "${_pmix_mpi_bin}" DIRECTORY)
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_PMIX QUIET pmix)
endif()

find_path(PMIx_INCLUDE_DIR pmix.h
  HINTS "${_pmix_mpi_prefix}/include" ${MPI_CXX_INCLUDE_DIRS} ${PC_PMIX_INCLUDE_DIRS})
find_library(PMIx_LIBRARY pmix
  HINTS "${_pmix_mpi_prefix}/lib" "${_pmix_mpi_prefix}/lib64" ${PC_PMIX_LIBRARY_DIRS})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PMIx REQUIRED_VARS PMIx_LIBRARY PMIx_INCLUDE_DIR)

if(PMIx_FOUND AND NOT TARGET PMIx::PMIx)
  add_library(PMIx::PMIx UNKNOWN IMPORTED)
  set_target_properties(PMIx::PMIx PROPERTIES
    IMPORTED_LOCATION "${PMIx_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${PMIx_INCLUDE_DIR}")
endif()
mark_as_advanced(PMIx_INCLUDE_DIR PMIx_LIBRARY)
