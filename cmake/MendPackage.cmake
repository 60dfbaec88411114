# The targets of the installed package beside mend::mend and mend::fenix:
#   mend::c         for programs in C: mend and MPI's C interface
#   mend::fortran   for programs in Fortran: the modules mend and, if MPI has mpi_f08, mend_f08, compiled here by the
#                   program's own compiler. Only in projects with Fortran
#   mend::kokkos    for programs with Kokkos: mend and the installed Kokkos. Only if it was found
# A project may look for mend more than once, and have more languages the second time.

set(mend_c_FOUND TRUE)
set(mend_fenix_FOUND TRUE)
if(NOT TARGET mend::c)
  add_library(mend::c INTERFACE IMPORTED)
  target_link_libraries(mend::c INTERFACE mend::mend)
  if("C" IN_LIST _mend_languages)
    target_link_libraries(mend::c INTERFACE MPI::MPI_C)
    target_link_libraries(mend::fenix INTERFACE MPI::MPI_C)
  endif()
endif()

if("Fortran" IN_LIST _mend_languages AND NOT TARGET mend_fortran)
  add_library(mend_fortran STATIC EXCLUDE_FROM_ALL "${_mend_fortran_folder}/mend.f90")
  set_target_properties(mend_fortran PROPERTIES
    Fortran_MODULE_DIRECTORY "${CMAKE_BINARY_DIR}/mend_modules"
    POSITION_INDEPENDENT_CODE ON)
  target_include_directories(mend_fortran PUBLIC "${CMAKE_BINARY_DIR}/mend_modules")
  target_link_libraries(mend_fortran PUBLIC mend::mend)
  if(MPI_Fortran_FOUND)
    target_link_libraries(mend_fortran PUBLIC MPI::MPI_Fortran)
    if(MPI_Fortran_HAVE_F08_MODULE)
      target_sources(mend_fortran PRIVATE "${_mend_fortran_folder}/mend_f08.f90")
    endif()
  endif()
  add_library(mend::fortran ALIAS mend_fortran)
endif()
if(TARGET mend::fortran)
  set(mend_fortran_FOUND TRUE)
endif()

include(MendFindKokkos)
if(MEND_HAS_KOKKOS AND NOT TARGET mend::kokkos)
  add_library(mend::kokkos INTERFACE IMPORTED)
  target_link_libraries(mend::kokkos INTERFACE mend::mend)
  mend_use_kokkos(mend::kokkos)
endif()
if(TARGET mend::kokkos)
  set(mend_kokkos_FOUND TRUE)
endif()
