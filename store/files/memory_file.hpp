// Files in memory. A file in memory is a file of the kernel's (memfd_create) that has no name in a folder: its pages
// are the content, and they exist once. Within the process it is opened by a path, /proc/self/fd/7 say, as any other
// file: by fopen, by std::fstream, by OPEN of Fortran, by libraries that want the name of a file. It needs no disk, and
// no limit but the memory applies to it.

#pragma once

#include "store/disk/durable_file.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <utility>

namespace mend {

/// The content of a file, where it lies in memory.
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

  /// By which it can be opened, in this process.
  std::filesystem::path path() const;
  /// Makes `path` a copy of it, which takes as much of the disk as was written here.
  void copy_to(const std::filesystem::path& path) const;

  /// The whole content as it lies, to be read until the file becomes shorter.
  FileMapping content() const;
  /// Puts an empty file in its place, under the same path. Who has the former one open keeps that, and no one else sees
  /// it any more.
  void begin_anew();
  /// Gives it so many bytes, in place of what it had, to be written. The memory for them is there then.
  FileMapping place_for(ByteCount bytes);
  /// Whether this process has opened it for writing and not closed it, in whatever language.
  bool is_being_written() const;

 private:
  FileMapping map(int protection) const;
};

}  // namespace mend
