// Files in memory. A file in memory is a kernel file (memfd_create) without a name in any folder: its pages are the
// content, and they exist once. The process opens it by a path such as /proc/self/fd/7, as any other file: with fopen,
// std::fstream, Fortran OPEN, or a library that takes a file name. It needs no disk, and only memory limits its size.

#pragma once

#include "store/disk/durable_file.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <utility>

namespace mend {

/// A memory mapping of a file's content.
class FileMapping {
 public:
  FileMapping() = default;
  explicit FileMapping(std::span<std::byte> bytes) : bytes_(bytes) {}
  ~FileMapping();
  FileMapping(FileMapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  FileMapping& operator=(FileMapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

/// A file in memory. Throws EnvironmentError when the system has none left, or no memory for it. Local.
class MemoryFile : OpenFile {
 public:
  MemoryFile();

  using OpenFile::read;
  using OpenFile::size;
  using OpenFile::write;

  /// Returns the path by which this process can open the file.
  std::filesystem::path path() const;
  /// Copies the file to `path`. Holes stay holes, so the copy takes only as much disk space as was written.
  void copy_to(const std::filesystem::path& path) const;

  /// Maps the whole content for reading. The mapping is valid until the file becomes shorter.
  FileMapping content() const;
  /// Puts an empty file in place of this one, under the same path. Streams that have the earlier file open keep it;
  /// nothing else sees it any more.
  void begin_anew();
  /// Replaces the content by `bytes` bytes and maps them for writing. Their memory is allocated.
  FileMapping place_for(ByteCount bytes);
  /// Returns true if this process has the file open for writing, in any language.
  bool is_being_written() const;

 private:
  FileMapping map(int protection) const;
};

}  // namespace mend
