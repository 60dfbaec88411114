// Quotes words for a shell.

#pragma once

#include <string>
#include <string_view>

namespace mend::jobs {

/// The text in single quotes.
inline std::string in_single_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char letter : text) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

/// The word unchanged if that is safe, otherwise in single quotes.
inline std::string shell_quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789-_=+,./:@%^") == std::string::npos;
  return plain ? word : in_single_quotes(word);
}

}  // namespace mend::jobs
