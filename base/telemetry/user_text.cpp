#include "base/telemetry/user_text.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <typeinfo>

namespace mend {

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    const bool is_control = (code < 0x20 && letter != '\t' && letter != '\n') || code == 0x7f;
    is_control ? shown += fmt::format("\\x{:02x}", code) : shown += letter;
  }
  return shown;
}

std::string text_of(const std::exception& error) {
  const char* const text = error.what();
  if (text != nullptr && *text != '\0') return text;
  int status = 0;
  const char* const mangled = typeid(error).name();
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                    &std::free);
  return fmt::format("an exception that says nothing ({})", status == 0 ? name.get() : mangled);
}

}  // namespace mend
