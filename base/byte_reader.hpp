// Converts objects to bytes and back, for messages between processes of one program and for stored data.
//
// The bytes read may come from anywhere, so nothing is read beyond their end. The caller of the reader decides what
// happens then.

#pragma once

#include <cstddef>
#include <cstring>
#include <exception>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace mend {

template <class T>
concept ReadAsBytes = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;

template <ReadAsBytes T>
void append(const T& object, std::vector<std::byte>& bytes) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof object);
  std::memcpy(bytes.data() + at, &object, sizeof object);
}

/// Reads objects from the front of a byte sequence.
class ByteReader {
 public:
  /// `refuse` must throw. It is called when the bytes are invalid.
  ByteReader(std::span<const std::byte> bytes, void (*refuse)()) : left_(bytes), refuse_(refuse) {}

  template <ReadAsBytes T>
  T take() {
    T object;
    std::memcpy(static_cast<void*>(&object), take(sizeof object).data(), sizeof object);
    return object;
  }
  std::span<const std::byte> take(std::size_t size) {
    expect(size <= left_.size());
    return std::exchange(left_, left_.subspan(size)).first(size);
  }
  /// Reads `count` objects. A count that the bytes cannot hold is refused before memory is reserved for it.
  template <ReadAsBytes T>
  std::vector<T> take_all(std::size_t count) {
    expect(count <= left_.size() / sizeof(T));
    std::vector<T> objects(count);
    for (T& object : objects) object = take<T>();
    return objects;
  }

  std::span<const std::byte> left() const { return left_; }
  void expect(bool valid) const {
    if (valid) return;
    refuse_();
    std::terminate();  // refuse_ must not return
  }
  void expect_end() const { expect(left_.empty()); }

 private:
  std::span<const std::byte> left_;
  void (*refuse_)();
};

}  // namespace mend
