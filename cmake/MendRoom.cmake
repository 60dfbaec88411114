# mend_room(NAME SOURCES... [LINKS rooms and libraries...] [PRIVATE_LINKS libraries...])
# Adds the object library mend_NAME for the folder it is called from, so that a room can be built and tested
# alone. Includes are written from the repository root: #include "store/snapshot/snapshot.hpp".
function(mend_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(mend_${name} OBJECT ${ROOM_SOURCES})
  target_include_directories(mend_${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
  target_link_libraries(mend_${name} PUBLIC ${ROOM_LINKS} PRIVATE ${ROOM_PRIVATE_LINKS} mend_warnings mend_sanitizers)
endfunction()

# What every target of ours is compiled with. Third-party headers come in as system headers and are not judged.
add_library(mend_warnings INTERFACE)
target_compile_options(mend_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow>)

add_library(mend_sanitizers INTERFACE)
if(MEND_SANITIZE)
  target_compile_options(mend_sanitizers INTERFACE -fsanitize=${MEND_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(mend_sanitizers INTERFACE -fsanitize=${MEND_SANITIZE})
endif()
