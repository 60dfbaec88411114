// Files that are there as a whole or not at all, under a name that the user has given.
//
// A regular file is written beside its place and moved there by rename, which replaces what has the name. What is no
// regular file must not be replaced: /dev/null would be gone from the machine. So a device, a pipe, or what a process
// has open (/dev/stdout) is written into as it is, and symbolic links are followed: what they name is replaced.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace mend {

/// The kind of file that a name given by the user refers to.
struct Destination {
  enum class Kind { file, stream, unusable };

  Kind kind = Kind::file;
  std::filesystem::path path;  ///< of a file: where symbolic links lead, even if nothing is there yet
  std::string obstacle;        ///< if unusable: what it is, as in "is a folder"
};

/// Never opens what `name` names. Local.
Destination destination_of(const std::filesystem::path& name);

/// Writes `text` under `name`. A stream that takes nothing for ten seconds, or that nobody reads, is an error. Throws
/// EnvironmentError, whose text gives the reason alone. Local.
void write_whole(const std::filesystem::path& name, std::string_view text);

}  // namespace mend
