// A file in memory as a member of the store.

#pragma once

#include "store/files/memory_file.hpp"
#include "store/member.hpp"

#include <string>
#include <utility>

namespace mend {

class FileMember final : public Member {
 public:
  explicit FileMember(std::string name) : name_(std::move(name)), path_(file_.path()) {}

  std::string shape() const override { return "file in memory"; }
  /// Throws UsageError while the file is open for writing, because data in a buffer would be missing.
  ByteCount size() const override;
  void pack(std::span<std::byte> to) const override;
  /// Returns the content at the last call of size().
  std::span<const std::byte> contiguous() const override { return content_.bytes(); }
  void unpack(std::span<const std::byte> from) override;
  std::span<std::byte> place_for(ByteCount bytes) override;
  const void* address() const override { return this; }

  // The functions of File.
  const std::string& path() const { return path_; }
  bool exists() const { return exists_ || file_.size() > 0; }
  void begin_to_exist() { exists_ = true; }
  ByteCount bytes() const { return file_.size(); }

 private:
  std::string name_;
  MemoryFile file_;
  std::string path_;
  bool exists_ = false;
  mutable FileMapping content_;
};

}  // namespace mend
