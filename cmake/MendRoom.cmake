# mend_room(NAME SOURCES... [LINKS rooms and libraries...] [PRIVATE_LINKS libraries...])
# Adds the object library mend_NAME for the current folder, so that a room can be built and tested alone. It is built for
# the targets that link it. Includes are relative to the repository root: #include "store/snapshot/snapshot.hpp".
function(mend_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(mend_${name} OBJECT EXCLUDE_FROM_ALL ${ROOM_SOURCES})
  target_include_directories(mend_${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
  target_link_libraries(mend_${name} PUBLIC ${ROOM_LINKS} PRIVATE ${ROOM_PRIVATE_LINKS} mend_warnings mend_sanitizers)
  target_precompile_headers(mend_${name} REUSE_FROM mend_precompiled)
endfunction()

# The compiler options of every target of mend. Third-party headers are system headers, without warnings.
add_library(mend_warnings INTERFACE)
target_compile_options(mend_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow>)

# GCC's garbage collection begins at a size of memory that the precompiled headers alone exceed. Without it, a source
# compiles in 8 to 15 % less CPU time, and takes more memory.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=600000>")
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
# headers that they need. The tests have more of them, and are compiled as executables are.
set(_mend_common_headers <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <deque> <filesystem>
  <fstream> <functional> <map> <memory> <mutex> <numeric> <optional> <ranges> <set> <span> <sstream> <string>
  <string_view> <thread> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>)
file(WRITE "${PROJECT_BINARY_DIR}/precompiled.cpp" "")
add_library(mend_precompiled OBJECT "${PROJECT_BINARY_DIR}/precompiled.cpp")
target_link_libraries(mend_precompiled PRIVATE fmt::fmt mend_warnings mend_sanitizers)
target_precompile_headers(mend_precompiled PRIVATE ${_mend_common_headers})

# mend_optimise_lightly(TARGET [SOURCES...]): for sources that read command lines or write reports, whose speed does not
# matter. The templates of CLI11 and nlohmann-json then compile in half the time.
function(mend_optimise_lightly target)
  if(MEND_KOKKOS_IS_CUDA)
    return()
  endif()
  set(options "$<$<CONFIG:RelWithDebInfo,Release>:-Og>")
  if(ARGN)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS "${options}")
  else()
    target_compile_options(${target} PRIVATE "${options}")
  endif()
endfunction()
