# A script: writes OUTPUT, a C++ source with the content of FILES (a list with | between), for
# jobs/report/page_parts.hpp.
#   cmake -DOUTPUT=page_parts.cpp "-DFILES=a.html|b.js" -P EmbedFiles.cmake
string(REPLACE "|" ";" FILES "${FILES}")
set(_arrays "")
set(_rows "")
set(_number 0)
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" bytes HEX)
  string(REGEX REPLACE "(................................................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND _arrays "constexpr char part_${_number}[] = {\n${bytes}};\n")
  string(APPEND _rows "  if (name == \"${name}\") return {part_${_number}, sizeof part_${_number}};\n")
  math(EXPR _number "${_number} + 1")
endforeach()
file(WRITE "${OUTPUT}" "#include \"jobs/report/page_parts.hpp\"

#include \"base/assert.hpp\"

namespace mend::jobs {
namespace {
${_arrays}}  // namespace

std::string_view page_part(std::string_view name) {
${_rows}  require(false, \"every part of the page is in the program\");
  return {};
}

}  // namespace mend::jobs
")
