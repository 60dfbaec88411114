// Files that are there whole or not at all, whatever happens meanwhile: written under another name, forced to the disk,
// and only then given their name.

#pragma once

#include "base/ids.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mend {

/// An open file, closed with this. Every failure throws EnvironmentError: the file, and what the system says.
class OpenFile {
 public:
  /// What is not a regular file is not read: a pipe would be waited for.
  enum class For { reading, writing, creating };
  OpenFile(std::filesystem::path path, For what);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  ByteCount size() const;
  /// Writes all of `bytes`, from `at` on.
  void write(std::span<const std::byte> bytes, ByteCount at) const;
  /// Reads what there is from `at` on, as far as `bytes` goes; returns how much that is.
  ByteCount read(std::span<std::byte> bytes, ByteCount at) const;
  /// Makes it so long, with zeros where nothing is written.
  void resize(ByteCount size) const;
  /// Returns when the disk has it.
  void sync() const;

 protected:
  /// One that was opened in another way; `handle` is negative when that has failed.
  OpenFile(std::filesystem::path name, int handle);
  int handle() const { return handle_; }

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  int handle_;
};

/// A file in memory, for what writes to files alone and cannot be trusted when a disk is full. Throws EnvironmentError.
class MemoryFile : OpenFile {
 public:
  MemoryFile();

  /// By which it can be opened, in this process.
  std::filesystem::path path() const;
  /// Makes `path` a copy of it, which takes as much of the disk as was written here.
  void copy_to(const std::filesystem::path& path) const;
};

/// The name under which `path` is written.
std::filesystem::path unfinished(const std::filesystem::path& path);

/// Gives the file unfinished(path), which is written, its name; returns when the disk has that. Throws
/// EnvironmentError.
void finish_file(const std::filesystem::path& path);

/// Writes a file, whole. Throws EnvironmentError.
void write_file(const std::filesystem::path& path, std::string_view text);

/// Throws EnvironmentError.
std::string read_file(const std::filesystem::path& path);

/// Returns when the disk has the names in a folder. Throws EnvironmentError.
void sync_folder(const std::filesystem::path& folder);

/// A hash of a file from `from` on, read a few megabytes at a time. Throws EnvironmentError.
std::uint64_t hash_of_file(const OpenFile& file, ByteCount from);

}  // namespace mend
