// What the store can protect: anything that can say how many bytes it is, write them out and read them back.

#pragma once

#include "base/ids.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>

namespace mend {

/// One protected datum, as the store sees it. The object it stands for belongs to the application.
class Member {
 public:
  virtual ~Member() = default;

  /// Its type and shape in words, such as "Kokkos::View<8 bytes>[10,20,30] right". A commit is only given back to a
  /// member of the same shape.
  virtual std::string shape() const = 0;
  virtual ByteCount size() const = 0;
  /// Writes size() bytes.
  virtual void pack(std::span<std::byte> to) const = 0;
  /// Reads what pack wrote.
  virtual void unpack(std::span<const std::byte> from) = 0;
};

/// A plain value: numbers, enums, structs without pointers.
template <class T>
concept PlainValue = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_array_v<T>;

/// Contiguous plain values: std::span, std::vector, std::array, C arrays.
template <class T>
concept PlainRange = std::ranges::contiguous_range<T> && std::ranges::sized_range<T> &&
                     PlainValue<std::ranges::range_value_t<T>>;

namespace detail {

std::string shape_text(const char* kind, std::size_t element_bytes, std::span<const std::size_t> extents);

template <PlainValue T>
class ValueMember final : public Member {
 public:
  explicit ValueMember(T& value) : value_(&value) {}
  std::string shape() const override { return shape_text("value", sizeof(T), {}); }
  ByteCount size() const override { return sizeof(T); }
  void pack(std::span<std::byte> to) const override { std::memcpy(to.data(), value_, sizeof(T)); }
  void unpack(std::span<const std::byte> from) override { std::memcpy(value_, from.data(), sizeof(T)); }

 private:
  T* value_;
};

template <PlainValue T>
class SpanMember final : public Member {
 public:
  explicit SpanMember(std::span<T> values) : values_(values) {}
  std::string shape() const override {
    const std::array extents{values_.size()};
    return shape_text("array", sizeof(T), extents);
  }
  ByteCount size() const override { return values_.size_bytes(); }
  void pack(std::span<std::byte> to) const override {
    if (!values_.empty()) std::memcpy(to.data(), values_.data(), values_.size_bytes());
  }
  void unpack(std::span<const std::byte> from) override {
    if (!values_.empty()) std::memcpy(values_.data(), from.data(), values_.size_bytes());
  }

 private:
  std::span<T> values_;
};

}  // namespace detail

/// A type of the application's own becomes protectable by specialising this with
/// `static std::unique_ptr<Member> make(T&)`. Kokkos Views are done in store/kokkos.hpp.
template <class T>
struct MemberOf;

template <PlainValue T>
  requires(!PlainRange<T>)
struct MemberOf<T> {
  static std::unique_ptr<Member> make(T& value) { return std::make_unique<detail::ValueMember<T>>(value); }
};

/// The elements are protected where they lie now: a container must not be resized while it is protected.
template <PlainRange T>
struct MemberOf<T> {
  static std::unique_ptr<Member> make(T& values) {
    using Element = std::remove_reference_t<std::ranges::range_reference_t<T>>;
    static_assert(!std::is_const_v<Element>, "a protected range must be writable: restore writes into it");
    return std::make_unique<detail::SpanMember<Element>>(std::span<Element>(std::ranges::data(values), std::ranges::size(values)));
  }
};

template <class T>
concept Protectable = requires(T& object) {
  { MemberOf<T>::make(object) } -> std::convertible_to<std::unique_ptr<Member>>;
};

namespace detail {
/// Whether copies of a T refer to the same data (a span, a View), so that protecting a temporary one is sound.
template <class T>
inline constexpr bool refers_to_its_data = !PlainValue<T> && !std::ranges::range<T>;
template <class T, std::size_t Extent>
inline constexpr bool refers_to_its_data<std::span<T, Extent>> = true;
}  // namespace detail

}  // namespace mend
