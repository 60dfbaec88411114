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

/// A FILE in memory (store/files/memory_file.hpp). It grows as it is written; what is skipped by a seek is zero.
class MemoryFile {
 public:
  /// With this content. Throws EnvironmentError when the system has no file or no memory left.
  MemoryFile(Bytes bytes, FileUse use);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::FILE* file() const { return file_; }
  void seek(std::size_t position);
  /// Its content. Closes it. Throws EnvironmentError when not all could be written.
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
  /// Reads and writes at one position each. Nothing is buffered but by the bytes themselves.
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
