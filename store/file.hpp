// Files in memory, for programs that write restart files. A file in memory is a member of the store: the program writes
// it like a file, commits save it with the other members, and a restore gives it the content of the restored version.
//
//     mend::File restart = store.file("restart");       // before restore(), on every entry of the body
//     store.restore();
//     if (std::FILE* file = restart.open("r")) {        // null when there is none
//       read_state(file);                               // the program's own code, which does not depend on mend
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
//   there is none     then exists       then exists   cannot be opened   cannot be opened
//
// A file exists once it was written, and after a restore. If it had not been written at the restored commit, it is
// empty. The content is in memory once, in addition to the snapshots that the store keeps of every member. A file may
// have any size. It belongs to one rank and to one entry of the body.

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

/// A file in memory that is a member of the store (Store::file). Copies refer to the same file.
class File {
 public:
  explicit File(std::shared_ptr<FileMember> member) : member_(std::move(member)) {}

  /// Opens the file as fopen does, with "r", "w" or "a", also with "+" and "b". The caller closes it. A file that was
  /// opened for writing must be closed before the next commit. Returns null, with ENOENT in errno, if it is opened for
  /// reading and was never written. A stream that is open while the file is restored keeps the earlier content. Local.
  /// Throws UsageError for another mode, EnvironmentError if the process has too many open files.
  std::FILE* open(const char* mode) const;

  /// Opens the file as std::fstream does. The stream is not open if the file is opened for reading and was never
  /// written. Local.
  ///   std::fstream out = store.file("restart").stream(std::ios::out);
  std::fstream stream(std::ios::openmode mode) const;

  /// Returns a path by which this process can open the file, for libraries that take a file name. The file can be read
  /// and written, but not removed or renamed. The path is valid until the body is left. Local.
  const std::string& path() const;

  /// Returns true if the file was opened for writing by these functions, has content, or was restored. Local.
  bool exists() const;

  /// Returns the size of the file, without bytes that are still in a writer's buffer. Local.
  ByteCount size() const;

 private:
  std::shared_ptr<FileMember> member_;
};

}  // namespace mend
