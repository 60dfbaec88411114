# Builds TARGET in BUILD, which must fail. The first error must be SENTENCE.
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target ${TARGET}
  OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
string(REGEX MATCH "error: [^\n]*" first "${output}")
if(result EQUAL 0)
  message(FATAL_ERROR "${TARGET} was built, though it is wrong")
endif()
if(NOT first MATCHES "${SENTENCE}")
  message(FATAL_ERROR "the first error is not \"${SENTENCE}\" but:\n${first}\n\n${output}")
endif()
