# mend::mend, the one library a user links, made of the rooms' objects; mend::fenix, for programs for Fenix; and
# `cmake --install`, after which find_package(mend) finds both. Kokkos is no part of mend: store/kokkos.hpp serves programs
# that have it.

set(_mend_rooms base transport agreement detector spares store framework bindings)
set(_mend_room_targets ${_mend_rooms})
list(TRANSFORM _mend_room_targets PREPEND mend_)
set(_mend_objects ${_mend_room_targets})
list(TRANSFORM _mend_objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")

add_library(mend ${_mend_objects})
add_library(mend::mend ALIAS mend)
set_target_properties(mend PROPERTIES
  LINKER_LANGUAGE CXX
  INSTALL_RPATH_USE_LINK_PATH ON  # MPI lives in a prefix of its own
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
# What the headers need, then what the objects need.
target_link_libraries(mend
  PUBLIC MPI::MPI_CXX Threads::Threads
  PRIVATE PMIx::PMIx fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json CLI11::CLI11 PkgConfig::xxHash PkgConfig::ISAL
          mend_hdf5
          "$<BUILD_INTERFACE:mend_sanitizers>")

# What programs for Fenix link: the same, and fenix/fenix.h.
add_library(fenix $<TARGET_OBJECTS:mend_fenix>)
add_library(mend::fenix ALIAS fenix)
set_target_properties(fenix PROPERTIES
  LINKER_LANGUAGE CXX
  OUTPUT_NAME mend_fenix
  INSTALL_RPATH_USE_LINK_PATH ON
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_include_directories(fenix PUBLIC
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/fenix>"  # for #include <fenix.h>
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/mend/fenix>")
target_link_libraries(fenix PUBLIC mend PRIVATE fmt::fmt "$<BUILD_INTERFACE:mend_sanitizers>")

include(CMakePackageConfigHelpers)
set(_mend_config_folder "${CMAKE_INSTALL_LIBDIR}/cmake/mend")
install(TARGETS mend fenix EXPORT mend_targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
foreach(room IN LISTS _mend_rooms ITEMS fenix)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${room}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/mend"
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.f90")
endforeach()
install(EXPORT mend_targets FILE mendTargets.cmake NAMESPACE mend:: DESTINATION "${_mend_config_folder}")
get_target_property(MEND_LIBRARY_TYPE mend TYPE)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/mendConfig.cmake.in" "${PROJECT_BINARY_DIR}/mendConfig.cmake"
  INSTALL_DESTINATION "${_mend_config_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/mendConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_CURRENT_LIST_DIR}/MendHdf5.cmake"
  "${PROJECT_BINARY_DIR}/mendConfig.cmake"
  "${PROJECT_BINARY_DIR}/mendConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/FindPMIx.cmake"
  DESTINATION "${_mend_config_folder}")
