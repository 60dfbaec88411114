#include "store/file.hpp"

#include "base/error.hpp"
#include "store/files/file_member.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

namespace mend {
namespace {

void require_mode(std::string_view mode) {
  const bool is_one = !mode.empty() && std::string_view("rwa").find(mode.front()) != std::string_view::npos &&
                      mode.find_first_not_of("+b", 1) == std::string_view::npos;
  if (!is_one) throw UsageError(fmt::format("'{}' is no mode of a file in memory: give r, r+, w, w+, a or a+", mode));
}

}  // namespace

// --- the member ------------------------------------------------------------------------------------------------

ByteCount FileMember::size() const {
  if (file_.is_being_written())
    throw UsageError(fmt::format("file '{}' is open for writing: close it before the commit", name_));
  content_ = file_.content();
  return content_.bytes().size();
}

void FileMember::pack(std::span<std::byte> to) const {
  if (!to.empty()) std::memcpy(to.data(), content_.bytes().data(), to.size());
}

void FileMember::unpack(std::span<const std::byte> from) {
  const std::span<std::byte> place = place_for(from.size());
  if (!place.empty()) std::memcpy(place.data(), from.data(), place.size());
}

std::span<std::byte> FileMember::place_for(ByteCount bytes) {
  file_.begin_anew();
  exists_ = true;
  content_ = file_.place_for(bytes);
  return content_.bytes();
}

// --- what the application has -------------------------------------------------------------------------------------

std::FILE* File::open(const char* mode) const {
  require_mode(mode);
  if (*mode == 'r' && !exists()) {
    errno = ENOENT;
    return nullptr;
  }
  std::FILE* const file = std::fopen(path().c_str(), (std::string(mode) + "e").c_str());
  if (file == nullptr)
    throw EnvironmentError("a file in memory cannot be opened: " + std::generic_category().message(errno));
  if (*mode != 'r') member_->begin_to_exist();
  return file;
}

std::fstream File::stream(std::ios::openmode mode) const {
  std::fstream stream;
  const bool only_if_it_exists = (mode & std::ios::in) != 0 && (mode & (std::ios::trunc | std::ios::app)) == 0;
  if (only_if_it_exists && !exists()) {
    stream.setstate(std::ios::failbit);
    return stream;
  }
  stream.open(path(), mode);
  if (stream.is_open() && !only_if_it_exists) member_->begin_to_exist();
  return stream;
}

const std::string& File::path() const { return member_->path(); }
bool File::exists() const { return member_->exists(); }
ByteCount File::size() const { return member_->bytes(); }

}  // namespace mend
