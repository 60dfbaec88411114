# Since release 6, Open MPI may have a second library, of MPI's standard ABI, with wrapper compilers of its own, such as
# mpicc_abi. mend is compiled for Open MPI's own ABI, and needs functions that the standard does not have.
#   MEND_STANDARD_ABI   what to tell the user if the compiler is one of these; otherwise empty

set(MEND_STANDARD_ABI "")
foreach(_compiler IN ITEMS MPI_C_COMPILER MPI_CXX_COMPILER CMAKE_C_COMPILER CMAKE_CXX_COMPILER)
  if("${${_compiler}}" MATCHES "_abi$")
    string(CONCAT MEND_STANDARD_ABI
      "${_compiler} is ${${_compiler}}, which is for MPI's standard ABI, without fault tolerance: "
      "name Open MPI's mpicc and mpicxx instead")
  endif()
endforeach()
unset(_compiler)
