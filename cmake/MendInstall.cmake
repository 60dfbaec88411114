# mend::mend, the library that users link, made of the rooms' objects; mend::fenix, for programs written for Fenix; and
# `cmake --install`, after which find_package(mend) and pkg-config find it. Kokkos is not part of mend: store/kokkos.hpp
# is for programs that have it, and mend::kokkos links both.

set(_mend_rooms base transport agreement detector spares store replay framework framework_options bindings)
set(_mend_room_targets ${_mend_rooms})
list(TRANSFORM _mend_room_targets PREPEND mend_)
set(_mend_objects ${_mend_room_targets})
list(TRANSFORM _mend_objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")

add_library(mend ${_mend_objects})
add_library(mend::mend ALIAS mend)
set_target_properties(mend PROPERTIES
  LINKER_LANGUAGE CXX
  INSTALL_RPATH_USE_LINK_PATH ON  # MPI has a prefix of its own
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(mend PUBLIC cxx_std_20)
target_include_directories(mend PUBLIC
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/framework>"   # for #include <mend.hpp>
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/bindings/c>"  # for #include <mend.h>
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/mend>"
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/mend/framework>"
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/mend/bindings/c>")
# The dependencies of the headers, then the libraries of the objects. nlohmann-json and CLI11 are only headers.
target_link_libraries(mend
  PUBLIC MPI::MPI_CXX Threads::Threads
  PRIVATE PMIx::PMIx fmt::fmt spdlog::spdlog PkgConfig::xxHash PkgConfig::ISAL mend_hdf5 ${CMAKE_DL_LIBS}
          "$<BUILD_INTERFACE:mend_sanitizers>")

# The library for programs written for Fenix: the same, with fenix/fenix.h and fenix/fenix.hpp. find_package(fenix)
# finds it too, with the version of Fenix whose names it has.
set(MEND_FENIX_VERSION 1.0)
add_library(fenix $<TARGET_OBJECTS:mend_fenix>)
add_library(mend::fenix ALIAS fenix)
set_target_properties(fenix PROPERTIES
  LINKER_LANGUAGE CXX
  OUTPUT_NAME mend_fenix
  INSTALL_RPATH "$ORIGIN"
  INSTALL_RPATH_USE_LINK_PATH ON
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_include_directories(fenix PUBLIC
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/fenix>"  # for #include <fenix.h>
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/mend/fenix>")
target_link_libraries(fenix PUBLIC mend PRIVATE fmt::fmt "$<BUILD_INTERFACE:mend_sanitizers>")

# The same under the names of the installed package. There, mend::fortran also compiles the modules (MendPackage.cmake).
add_library(mend_c INTERFACE)
target_link_libraries(mend_c INTERFACE mend MPI::MPI_C)
add_library(mend::c ALIAS mend_c)
if(TARGET mend_kokkos)
  add_library(mend_with_kokkos INTERFACE)
  target_link_libraries(mend_with_kokkos INTERFACE mend mend_kokkos)
  add_library(mend::kokkos ALIAS mend_with_kokkos)
endif()

include(CMakePackageConfigHelpers)
include(MendPublicHeaders)
set(_mend_config_folder "${CMAKE_INSTALL_LIBDIR}/cmake/mend")
install(TARGETS mend fenix EXPORT mend_targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
foreach(file IN LISTS MEND_PUBLIC_HEADERS MEND_PUBLIC_C_HEADERS MEND_FORTRAN_SOURCES)
  cmake_path(GET file PARENT_PATH folder)
  install(FILES "${PROJECT_SOURCE_DIR}/${file}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/mend/${folder}")
endforeach()
install(FILES
  "${PROJECT_SOURCE_DIR}/README.md"
  "${PROJECT_SOURCE_DIR}/LICENSE"
  "${PROJECT_SOURCE_DIR}/jobs/report/page/uPlot-LICENSE"  # uPlot is part of the command
  DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  FILES_MATCHING PATTERN "*.md" PATTERN "*.png")

install(EXPORT mend_targets FILE mendTargets.cmake NAMESPACE mend:: DESTINATION "${_mend_config_folder}")
get_target_property(MEND_LIBRARY_TYPE mend TYPE)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/mendConfig.cmake.in" "${PROJECT_BINARY_DIR}/mendConfig.cmake"
  INSTALL_DESTINATION "${_mend_config_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/mendConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_CURRENT_LIST_DIR}/FindPMIx.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/MendFindKokkos.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/MendHdf5.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/MendPackage.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/MendStandardAbi.cmake"
  "${PROJECT_BINARY_DIR}/mendConfig.cmake"
  "${PROJECT_BINARY_DIR}/mendConfigVersion.cmake"
  DESTINATION "${_mend_config_folder}")

# For find_package(fenix) in packages written for Fenix: target fenix.
set(_fenix_config_folder "${CMAKE_INSTALL_LIBDIR}/cmake/fenix")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/fenixConfig.cmake.in" "${PROJECT_BINARY_DIR}/fenixConfig.cmake"
  INSTALL_DESTINATION "${_fenix_config_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/fenixConfigVersion.cmake"
  VERSION ${MEND_FENIX_VERSION} COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/fenixConfig.cmake" "${PROJECT_BINARY_DIR}/fenixConfigVersion.cmake"
  DESTINATION "${_fenix_config_folder}")

# For builds without CMake: mpic++ program.cpp $(pkg-config --cflags --libs mend), or fenix. Programs that link the static library
# must also link its dependencies.
set(MEND_PC_REQUIRES)
set(MEND_PC_LIBS)
if(MEND_LIBRARY_TYPE STREQUAL "STATIC_LIBRARY")
  set(MEND_PC_REQUIRES "fmt, spdlog, libxxhash, libisal")
  if(MEND_HDF5_FOUND)
    string(APPEND MEND_PC_REQUIRES ", ${MEND_HDF5_MODULE_NAME}")
  else()
    list(JOIN HDF5_C_LIBRARIES " " MEND_PC_LIBS)
  endif()
  string(APPEND MEND_PC_LIBS " ${PMIx_LIBRARY} -lstdc++ -lm -lpthread")
  foreach(library IN LISTS CMAKE_DL_LIBS)
    string(APPEND MEND_PC_LIBS " -l${library}")
  endforeach()
endif()
file(RELATIVE_PATH MEND_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" MEND_PC_TO_PREFIX "${MEND_PC_TO_PREFIX}")
foreach(module IN ITEMS mend fenix)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/${module}.pc.in" "${PROJECT_BINARY_DIR}/${module}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${module}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()

configure_file("${PROJECT_SOURCE_DIR}/packaging/modulefiles/mend.lua.in" "${PROJECT_BINARY_DIR}/mend.lua" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/mend.lua" DESTINATION "${CMAKE_INSTALL_DATADIR}/modulefiles/mend"
  RENAME "${PROJECT_VERSION}.lua")

# All that is installed, for packages: --target mend_installed.
add_custom_target(mend_installed DEPENDS mend fenix mend_command mend_doctor_programs mend_manual)
foreach(target IN ITEMS mend_simulations stencil minife mend_apps_manual)
  if(TARGET ${target})
    add_dependencies(mend_installed ${target})
  endif()
endforeach()
