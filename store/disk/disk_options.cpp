#include "base/error.hpp"
#include "store/store_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

namespace mend {
namespace {

/// Returns true for "x,key=value".
bool ends_in_an_option(std::string_view name) {
  const auto comma = name.rfind(',');
  const auto equals = name.find('=', comma);
  if (comma == std::string_view::npos || equals == std::string_view::npos) return false;
  const std::string_view key = name.substr(comma + 1, equals - comma - 1);
  return !key.empty() && std::ranges::all_of(key, [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '-' || c == '_';
  });
}

}  // namespace

DiskOptions DiskOptions::parse(std::string_view text) {
  constexpr std::string_view key = ",every=";
  DiskOptions options;
  const auto comma = text.rfind(key);
  options.folder = text.substr(0, comma);
  bool fine = !options.folder.empty() && !ends_in_an_option(options.folder.filename().string());
  if (comma != std::string_view::npos) {
    const std::string_view number = text.substr(comma + key.size());
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), options.every);
    fine = fine && error == std::errc{} && end == number.data() + number.size() && options.every >= 1;
  }
  if (!fine) {
    throw UsageError(fmt::format(
        "'{}' is not a place on disk: give a folder, or DIR,every=N to write every N-th commit there", text));
  }
  return options;
}

}  // namespace mend
