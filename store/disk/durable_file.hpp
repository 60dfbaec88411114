// Files that exist as a whole or not at all, whatever happens meanwhile: each is written under another name, forced to
// the disk, and then renamed.

#pragma once

#include "base/ids.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mend {

/// An open file, closed by the destructor. Every failure throws EnvironmentError with the file's name and the system's
/// error message.
class OpenFile {
 public:
  /// Only regular files are read: a pipe would block.
  enum class For { reading, writing, creating };
  OpenFile(std::filesystem::path path, For what);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  ByteCount size() const;
  /// Writes all of `bytes`, from `at` on.
  void write(std::span<const std::byte> bytes, ByteCount at) const;
  /// Reads from `at` on until `bytes` is full or the file ends. Returns the number of bytes read.
  ByteCount read(std::span<std::byte> bytes, ByteCount at) const;
  /// Sets the length of the file; new bytes are zero.
  void resize(ByteCount size) const;
  /// Returns when the file is on the disk.
  void sync() const;

  /// Takes over `handle`, which was opened in another way and is closed by the destructor. It is negative if opening
  /// failed.
  OpenFile(std::filesystem::path name, int handle);
  int handle() const { return handle_; }

 protected:
  /// Throws EnvironmentError for errno.
  [[noreturn]] void fail() const;

 private:
  std::filesystem::path path_;
  int handle_;
};

/// Returns the name under which `path` is written before it is complete.
std::filesystem::path unfinished(const std::filesystem::path& path);

/// Renames the written file unfinished(path) to `path`. Returns when that is on the disk. Throws EnvironmentError.
void finish_file(const std::filesystem::path& path);

/// Writes a file as a whole. Throws EnvironmentError.
void write_file(const std::filesystem::path& path, std::string_view text);

/// Throws EnvironmentError.
std::string read_file(const std::filesystem::path& path);

/// Returns when the names in a folder are on the disk. Throws EnvironmentError.
void sync_folder(const std::filesystem::path& folder);

/// Returns a hash of a file from `from` on, read a few megabytes at a time. Throws EnvironmentError.
std::uint64_t hash_of_file(const OpenFile& file, ByteCount from);

}  // namespace mend
