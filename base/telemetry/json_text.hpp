#pragma once

#include <string>

namespace mend {

/// Returns `document`, a json of nlohmann, as text: on one line, or indented by `indent` spaces a level. Bytes that are
/// not UTF-8 are replaced, because texts come from the program and from its user; dump() alone throws. Pure.
template <class Json>
std::string json_text(const Json& document, int indent = -1) {
  return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mend
