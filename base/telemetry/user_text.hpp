// Prepares texts of the program (of its exceptions and reports) for the user.

#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace mend {

/// Returns `text` with control characters other than tabs and newlines written out, as in "\x1b[31m", because a
/// terminal would obey them. Characters outside of ASCII are unchanged. Pure.
std::string printable(std::string_view text);

/// Returns the text of `error`. If the text is empty or a null pointer, returns its type. Pure.
std::string text_of(const std::exception& error);

}  // namespace mend
