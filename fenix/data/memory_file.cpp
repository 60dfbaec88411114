#include "fenix/data/memory_file.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mend::fenix {
namespace {

std::size_t copy_out(const Bytes& bytes, std::size_t& position, char* to, std::size_t size) {
  const std::size_t left = position < bytes.size() ? bytes.size() - position : 0;
  const std::size_t copied = std::min(left, size);
  if (copied > 0) std::memcpy(to, bytes.data() + position, copied);
  position += copied;
  return copied;
}

void copy_in(Bytes& bytes, std::size_t& position, const char* from, std::size_t size) {
  if (size == 0) return;
  if (position + size > bytes.size()) bytes.resize(position + size);
  std::memcpy(bytes.data() + position, from, size);
  position += size;
}

}  // namespace

// --- FILE ------------------------------------------------------------------------------------------------------

MemoryFile::MemoryFile(Bytes bytes, FileUse use) : use_(use) {
  content_.write(bytes, 0);
  file_ = std::fopen(content_.path().c_str(), use == FileUse::read ? "re" : "r+e");
  if (file_ == nullptr) throw EnvironmentError("cannot open a file in memory");
}

MemoryFile::~MemoryFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void MemoryFile::seek(std::size_t position) { std::fseek(file_, static_cast<long>(position), SEEK_SET); }

Bytes MemoryFile::take() {
  const bool is_whole = use_ == FileUse::read || std::ferror(file_) == 0;
  if (std::fclose(std::exchange(file_, nullptr)) != 0 || !is_whole)
    throw EnvironmentError("a file in memory could not be written to its end");
  Bytes bytes(content_.size());
  content_.read(bytes, 0);
  return bytes;
}

// --- stream ----------------------------------------------------------------------------------------------------

void MemoryStream::seek(std::size_t position) {
  stream_.seekg(static_cast<std::streamoff>(position));
  stream_.seekp(static_cast<std::streamoff>(position));
}

std::streamsize MemoryStream::Buffer::xsgetn(char* to, std::streamsize size) {
  return static_cast<std::streamsize>(copy_out(bytes, read_at_, to, static_cast<std::size_t>(size)));
}

MemoryStream::Buffer::int_type MemoryStream::Buffer::underflow() {
  return read_at_ < bytes.size() ? traits_type::to_int_type(static_cast<char>(bytes[read_at_])) : traits_type::eof();
}

MemoryStream::Buffer::int_type MemoryStream::Buffer::uflow() {
  const int_type next = underflow();
  if (next != traits_type::eof()) ++read_at_;
  return next;
}

std::streamsize MemoryStream::Buffer::xsputn(const char* from, std::streamsize size) {
  copy_in(bytes, write_at_, from, static_cast<std::size_t>(size));
  return size;
}

MemoryStream::Buffer::int_type MemoryStream::Buffer::overflow(int_type character) {
  if (character == traits_type::eof()) return traits_type::not_eof(character);
  const char written = traits_type::to_char_type(character);
  copy_in(bytes, write_at_, &written, 1);
  return character;
}

MemoryStream::Buffer::pos_type MemoryStream::Buffer::seekoff(off_type offset, std::ios_base::seekdir from,
                                                             std::ios_base::openmode which) {
  const std::size_t current = (which & std::ios_base::in) != 0 ? read_at_ : write_at_;
  off_type begin = 0;
  if (from == std::ios_base::cur) begin = static_cast<off_type>(current);
  if (from == std::ios_base::end) begin = static_cast<off_type>(bytes.size());
  if (begin + offset < 0) return pos_type(off_type(-1));
  return seekpos(begin + offset, which);
}

MemoryStream::Buffer::pos_type MemoryStream::Buffer::seekpos(pos_type position, std::ios_base::openmode which) {
  const auto at = static_cast<std::size_t>(off_type(position));
  if ((which & std::ios_base::in) != 0) read_at_ = at;
  if ((which & std::ios_base::out) != 0) write_at_ = at;
  return position;
}

}  // namespace mend::fenix
