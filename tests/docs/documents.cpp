#include "tests/docs/documents.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace documents {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(std::filesystem::path(MEND_SOURCE_DIR) / file);
  if (!in) throw std::runtime_error(fmt::format("{} cannot be read", file.string()));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string block_after(const std::string& document, const std::string& name) {
  const auto comment = document.find(fmt::format("<!-- {} -->\n```", name));
  if (comment == std::string::npos) throw std::runtime_error(fmt::format("no block follows <!-- {} -->", name));
  const auto fence = document.find("```", comment);
  const auto begin = document.find('\n', fence) + 1;
  return document.substr(begin, document.find("```", begin) - begin);
}

}  // namespace documents
