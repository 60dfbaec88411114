# mend_room(NAME SOURCES... [LINKS rooms and libraries...] [PRIVATE_LINKS libraries...])
# Adds the object library mend_NAME for the current folder, so that a room can be built and tested alone. It is built for
# the targets that link it. Includes are relative to the repository root: #include "store/snapshot/snapshot.hpp".
function(mend_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(mend_${name} OBJECT EXCLUDE_FROM_ALL ${ROOM_SOURCES})
  target_include_directories(mend_${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
  target_link_libraries(mend_${name} PUBLIC ${ROOM_LINKS} PRIVATE ${ROOM_PRIVATE_LINKS})
  mend_compile_like(mend_precompiled mend_${name})
endfunction()

# mend_compile_like(PRECOMPILED TARGET): compiles TARGET with the precompiled headers of PRECOMPILED, which may be TARGET
# itself, and with mend's warnings and sanitizers. Precompiled headers can be used only by code that is compiled alike:
# all such code is position-independent in the same way, in libraries and in executables.
function(mend_compile_like precompiled target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
  target_link_libraries(${target} PRIVATE fmt::fmt mend_warnings mend_sanitizers)
  if(NOT target STREQUAL precompiled AND NOT MEND_KOKKOS_IS_CUDA)  # nvcc cannot read GCC's
    target_precompile_headers(${target} REUSE_FROM ${precompiled})
  endif()
endfunction()

# The compiler options of every target of mend. Third-party headers are system headers, without warnings.
add_library(mend_warnings INTERFACE)
target_compile_options(mend_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow>
  # It takes sources that are compiled together for headers.
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:${MEND_UNITY}>>:-Wno-subobject-linkage>)

# GCC's garbage collection begins at a size of memory that the precompiled headers alone exceed. Without it, a source
# compiles in 8 to 15 % less CPU time, and takes more memory.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=600000>")
endif()

# Where the tests' many programs are linked too: these linkers take a third of the time of GNU's default.
if(MEND_BUILD_TESTS AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_INTERPROCEDURAL_OPTIMIZATION
   AND NOT CMAKE_LINKER_TYPE AND NOT "${CMAKE_CXX_FLAGS} ${CMAKE_EXE_LINKER_FLAGS}" MATCHES "-fuse-ld")
  include(CheckLinkerFlag)
  foreach(linker IN ITEMS mold lld gold)
    check_linker_flag(CXX -fuse-ld=${linker} MEND_LINKS_BY_${linker})
    if(MEND_LINKS_BY_${linker})
      add_link_options("$<$<LINK_LANGUAGE:CXX>:-fuse-ld=${linker}>")
      break()
    endif()
  endforeach()
endif()

add_library(mend_sanitizers INTERFACE)
if(MEND_SANITIZE)
  target_compile_options(mend_sanitizers INTERFACE -fsanitize=${MEND_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(mend_sanitizers INTERFACE -fsanitize=${MEND_SANITIZE})
  if(MEND_SANITIZE MATCHES thread)
    # GCC warns about every atomic_thread_fence, which ThreadSanitizer does not model. Only Asio has any, for handlers
    # that are passed between threads without a lock; mend passes them under the lock of post().
    target_compile_options(mend_sanitizers INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
    target_compile_definitions(mend_asio INTERFACE ASIO_DISABLE_FENCED_BLOCK)
  endif()
endif()

# Third-party headers that most files include, compiled once, which halves the time of a build. Files still include all
# headers that they need. The tests and the mini-apps have more of them.
set(_mend_common_headers <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <deque> <filesystem>
  <fstream> <functional> <map> <memory> <mutex> <numeric> <optional> <ranges> <set> <span> <sstream> <string>
  <string_view> <thread> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>)
file(WRITE "${PROJECT_BINARY_DIR}/precompiled.cpp" "")
add_library(mend_precompiled OBJECT "${PROJECT_BINARY_DIR}/precompiled.cpp")
target_precompile_headers(mend_precompiled PRIVATE ${_mend_common_headers})
mend_compile_like(mend_precompiled mend_precompiled)

# mend_optimise_lightly(TARGET [SOURCES...]): for sources that read command lines or write reports, whose speed does not
# matter. The templates of CLI11 and nlohmann-json then compile in half the time.
function(mend_optimise_lightly target)
  if(MEND_KOKKOS_IS_CUDA)
    return()
  endif()
  set(options -Og)
  # GCC from 13 on takes the precompiled header, which is compiled with -O2, only with the same choices for the machine;
  # on x86, -O1 makes two others.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    set(options -O1)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
      list(APPEND options -munroll-only-small-loops -mvzeroupper)
    endif()
  endif()
  set(options "$<$<CONFIG:RelWithDebInfo,Release>:${options}>")
  if(ARGN)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS "${options}")
  else()
    target_compile_options(${target} PRIVATE "${options}")
  endif()
endfunction()
