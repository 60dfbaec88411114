// Files that exist as a whole or not at all, under a name that the user has given.
//
// A regular file is written beside its place and moved there by rename, which replaces an existing file of that name.
// Other kinds of file must not be replaced: /dev/null would be gone from the machine. So a device, a pipe, or a file
// that a process has open (/dev/stdout) is written into as it is. Symbolic links are followed, and the file that they
// name is replaced.

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

/// Returns the destination that `name` refers to, without opening it. Local.
Destination destination_of(const std::filesystem::path& name);

/// Writes `text` under `name`. A stream that accepts no data for ten seconds, or that nobody reads, is an error. Throws
/// EnvironmentError; its text contains only the reason. Local.
void write_whole(const std::filesystem::path& name, std::string_view text);

}  // namespace mend
