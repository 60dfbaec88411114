# Installs mend into a tree of its own, moves that elsewhere, builds the project against it, and compares a run in
# which a rank is killed with one in which none is.

function(run)
  cmake_parse_arguments(ARG "" "OUTPUT" "COMMAND" ${ARGN})
  execute_process(COMMAND ${ARG_COMMAND} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors TIMEOUT 120)
  if(NOT code STREQUAL 0)
    message(FATAL_ERROR "${ARG_COMMAND} ended with ${code}:\n${output}\n${errors}")
  endif()
  if(ARG_OUTPUT)
    set(${ARG_OUTPUT} "${output}" PARENT_SCOPE)
  endif()
endfunction()

file(REMOVE_RECURSE "${work}")
run(COMMAND ${CMAKE_COMMAND} --install "${build}" --config "${config}" --prefix "${work}/first-place")
# An installed tree may be moved.
file(RENAME "${work}/first-place" "${work}/installed")

set(flags)
if(sanitize)
  set(flags "-DCMAKE_CXX_FLAGS=-fsanitize=${sanitize}" "-DCMAKE_C_FLAGS=-fsanitize=${sanitize}")
endif()
run(COMMAND ${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}/project" -B "${work}/build" -G "${generator}"
  "-DCMAKE_PREFIX_PATH=${work}/installed" "-DCMAKE_CXX_COMPILER=${compiler}" "-DCMAKE_BUILD_TYPE=${config}" ${flags})
run(COMMAND ${CMAKE_COMMAND} --build "${work}/build")

set(launch "${work}/installed/bin/mend" run -n 3 --spares 1 -- "${work}/build/heat")
run(COMMAND ${launch} OUTPUT undisturbed)
run(COMMAND ${launch} kill OUTPUT killed)
if(NOT undisturbed MATCHES "0 recoveries.*heat [0-9]")
  message(FATAL_ERROR "the undisturbed run said: ${undisturbed}")
endif()
if(NOT killed MATCHES "1 recoveries")
  message(FATAL_ERROR "nobody died in the run with a kill, which said: ${killed}")
endif()
string(REGEX REPLACE ".*(heat [^\r\n]*).*" "\\1" expected "${undisturbed}")
string(REGEX REPLACE ".*(heat [^\r\n]*).*" "\\1" found "${killed}")
if(NOT found STREQUAL expected)
  message(FATAL_ERROR "the run with a kill ended with ${found} instead of ${expected}")
endif()
message(STATUS "with a death and without: ${found}")

# The same of a program for Fenix.
set(launch "${work}/installed/bin/mend" run -n 3 --spares 1 -- "${work}/build/ring")
run(COMMAND ${launch} OUTPUT undisturbed)
run(COMMAND ${launch} kill OUTPUT killed)
if(NOT undisturbed MATCHES "role 0, number 100" OR NOT killed MATCHES "role 2, number 100")
  message(FATAL_ERROR "the program for Fenix said, undisturbed and with a kill: ${undisturbed} ${killed}")
endif()
