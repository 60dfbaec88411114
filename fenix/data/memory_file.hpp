// Bytes that are written and read like a file, or like a stream.

#pragma once

#include "store/files/memory_file.hpp"

#include <cstddef>
#include <cstdio>
#include <istream>
#include <streambuf>
#include <vector>

namespace mend::fenix {

using Bytes = std::vector<std::byte>;

enum class FileUse { write, read };

/// A FILE in memory (store/files/memory_file.hpp). It grows as it is written; bytes that a seek has skipped are zero.
class MemoryFile {
 public:
  /// Makes a file with this content. Throws EnvironmentError if the system has no file or no memory left.
  MemoryFile(Bytes bytes, FileUse use);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::FILE* file() const { return file_; }
  void seek(std::size_t position);
  /// Closes the file and returns its content. Throws EnvironmentError if not all could be written.
  Bytes take();

 private:
  mend::MemoryFile content_;
  FileUse use_;
  std::FILE* file_ = nullptr;
};

/// The same as a stream of C++.
class MemoryStream {
 public:
  explicit MemoryStream(Bytes bytes) : buffer_(std::move(bytes)), stream_(&buffer_) {}

  std::iostream& stream() { return stream_; }
  void seek(std::size_t position);
  Bytes take() { return std::move(buffer_.bytes); }

 private:
  /// Has one position for reading and one for writing. It has no buffer other than the bytes themselves.
  class Buffer : public std::streambuf {
   public:
    explicit Buffer(Bytes content) : bytes(std::move(content)) {}
    Bytes bytes;

   protected:
    std::streamsize xsgetn(char* to, std::streamsize size) override;
    int_type underflow() override;
    int_type uflow() override;
    std::streamsize xsputn(const char* from, std::streamsize size) override;
    int_type overflow(int_type character) override;
    pos_type seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode which) override;
    pos_type seekpos(pos_type position, std::ios_base::openmode which) override;

   private:
    std::size_t read_at_ = 0;
    std::size_t write_at_ = 0;
  };

  Buffer buffer_;
  std::iostream stream_;
};

}  // namespace mend::fenix
