// The sentences in C++ sources: string literals, adjacent ones joined, that are not only for developers.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace documents {

/// For each sentence in `source` of four words or more: its longest run of words without a value that is inserted at
/// run time ("{}", "%d"). Leaves out help texts of options, messages at the log levels debug and info, and invariants
/// (static_assert, base/assert.hpp).
std::vector<std::string> sentences_in(std::string_view source);

/// Replaces each run of white space by one space, so that line breaks do not matter.
std::string squeezed(std::string_view text);

}  // namespace documents
