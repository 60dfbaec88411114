// Words as a shell reads them back.

#pragma once

#include <string>
#include <string_view>

namespace mend::jobs {

/// In single quotes, whatever is in it.
inline std::string in_single_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char letter : text) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

/// As it is where that is safe, else in single quotes.
inline std::string shell_quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789-_=+,./:@%^") == std::string::npos;
  return plain ? word : in_single_quotes(word);
}

}  // namespace mend::jobs
