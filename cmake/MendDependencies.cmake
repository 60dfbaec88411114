# The libraries that mend needs; docs/dependencies.md gives the reasons.

include(MendStandardAbi)
if(MEND_STANDARD_ABI)
  message(FATAL_ERROR "${MEND_STANDARD_ABI}")
endif()
set(MPI_CXX_SKIP_MPICXX ON)  # the C++ bindings are not part of MPI any more
find_package(MPI 3.1 REQUIRED COMPONENTS C CXX)
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_CXX)
check_cxx_source_compiles("
  #include <mpi.h>
  #include <mpi-ext.h>
  int main() { return MPIX_Comm_revoke(MPI_COMM_SELF) + MPIX_ERR_PROC_FAILED; }" MEND_MPI_HAS_ULFM)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT MEND_MPI_HAS_ULFM)
  message(FATAL_ERROR
    "The MPI found (${MPI_CXX_COMPILER}) has no fault tolerance (ULFM). mend needs Open MPI 5.0 or later, configured "
    "--with-ft=ulfm. jobs/setup.sh finds or builds one; or set MPI_HOME to yours.")
endif()
cmake_path(GET MPI_CXX_COMPILER PARENT_PATH MEND_MPI_PREFIX)
cmake_path(GET MEND_MPI_PREFIX PARENT_PATH MEND_MPI_PREFIX)
find_package(PMIx REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt 8 REQUIRED)
find_package(spdlog 1.9 REQUIRED)
find_package(nlohmann_json 3.9 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(xxHash REQUIRED IMPORTED_TARGET libxxhash)
set(CMAKE_REQUIRED_LIBRARIES PkgConfig::xxHash)
check_cxx_source_compiles("
  #include <xxh_x86dispatch.h>
  int main() { return static_cast<int>(XXH3_64bits_dispatch(nullptr, 0)); }" MEND_XXHASH_DISPATCHES)
unset(CMAKE_REQUIRED_LIBRARIES)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal)
include(MendHdf5)
find_path(MEND_ASIO_INCLUDE_DIR asio.hpp DOC "The folder of standalone Asio's asio.hpp")
if(NOT MEND_ASIO_INCLUDE_DIR)
  message(FATAL_ERROR "Asio is missing (Debian: libasio-dev). If you have it, set MEND_ASIO_INCLUDE_DIR to its folder.")
endif()
add_library(mend_asio INTERFACE)
target_include_directories(mend_asio SYSTEM INTERFACE "${MEND_ASIO_INCLUDE_DIR}")
target_compile_definitions(mend_asio INTERFACE ASIO_STANDALONE)
target_link_libraries(mend_asio INTERFACE Threads::Threads)

if(MEND_BUILD_APPS OR MEND_BUILD_TESTS)
  include(MendKokkos)
endif()
if(MEND_BUILD_APPS)
  find_package(PNG REQUIRED)
endif()
if(MEND_BUILD_TESTS)
  find_package(GTest 1.11 REQUIRED)
endif()
