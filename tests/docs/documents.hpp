// Reads documents and sources of the repository.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace documents {

/// The text of a file, named from the repository's root. Throws if it cannot be read.
std::string text_of(const std::filesystem::path& file);

/// The text between the fences ```LANGUAGE and ``` after the comment <!-- NAME --> in a document.
std::string block_after(const std::string& document, const std::string& name);

}  // namespace documents
