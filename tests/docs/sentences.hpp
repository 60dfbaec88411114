// The sentences in C++ sources: string literals, adjacent ones joined, that are not for developers alone.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace documents {

/// The longest run of words of each sentence in `source` that holds no value put in at run time ("{}", "%d"), for those
/// of four words or more. Left out are help texts of options, what is said at the log levels debug and info only, and
/// invariants (static_assert, base/assert.hpp).
std::vector<std::string> sentences_in(std::string_view source);

/// With each run of white space as one space, so that line breaks do not matter.
std::string squeezed(std::string_view text);

}  // namespace documents
