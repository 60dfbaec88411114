// Files in memory, for programs that write restart files: a file that is a member of the store. It is written like a
// file, committed with what else is protected, and after a failure it has what it had at the version restored.
//
//     mend::File restart = store.file("restart");       // before restore(), on every entry of the body
//     store.restore();
//     if (std::FILE* file = restart.open("r")) {        // null when it was never written
//       read_state(file);                               // the program's own code, which knows nothing of mend
//       std::fclose(file);
//     }
//     ...
//     std::FILE* file = restart.open("w");
//     write_state(file);
//     std::fclose(file);                                // before the commit
//     store.commit();
//
//   opened with       "w", out          "a", app      "r", in            "r+", in | out
//   the content is    empty at once     kept          kept               kept
//   never written     then exists       then exists   cannot be opened   cannot be opened
//
// The content lies in memory once, beside the snapshots that the store keeps of every member. A file may have any size.
// It belongs to one rank and to one entry of the body.

#pragma once

#include "base/ids.hpp"

#include <cstdio>
#include <fstream>
#include <ios>
#include <memory>
#include <string>
#include <utility>

namespace mend {

class FileMember;

/// A file in memory that is a member of the store (Store::file). Copies stand for the same file.
class File {
 public:
  explicit File(std::shared_ptr<FileMember> member) : member_(std::move(member)) {}

  /// Opens it as fopen does, with "r", "w" or "a", also with "+" and "b". The caller closes it, before the next commit
  /// if it was opened for writing. Returns null, with ENOENT in errno, when it is to be read and was never written.
  /// What is open when the file is restored goes on with the content that it had. Local. Throws UsageError for another
  /// mode, EnvironmentError when the process has too many files open.
  std::FILE* open(const char* mode) const;

  /// Opens it as std::fstream does. It is not open when it is to be read and was never written. Local.
  ///   std::fstream out = store.file("restart").stream(std::ios::out);
  std::fstream stream(std::ios::openmode mode) const;

  /// A path by which this process can open it, for libraries that want the name of a file. It can be opened for reading
  /// and writing, not be removed nor renamed. It is valid until the body is left. Local.
  const std::string& path() const;

  /// Whether it was opened for writing by these functions, or has content, or was restored. Local.
  bool exists() const;

  /// How many bytes it has; what is still in the buffer of somebody who writes is not among them. Local.
  ByteCount size() const;

 private:
  std::shared_ptr<FileMember> member_;
};

}  // namespace mend
