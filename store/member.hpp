// What the store can protect: any object that can report its size, write its bytes and read them back.

#pragma once

#include "base/ids.hpp"
#include "store/array_part.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace mend {

namespace detail {
[[noreturn]] void refuse_range(std::size_t begin, std::size_t end, std::size_t size);
}

/// One protected object, as the store sees it. The application owns the object.
class Member {
 public:
  using TakePiece = std::function<void(std::span<const std::byte>)>;
  using FillPiece = std::function<bool(std::span<std::byte>)>;
  static constexpr ByteCount bytes_of_pieces = 65536;

  virtual ~Member() = default;

  /// Returns the type and shape in words, such as "Kokkos::View<8 bytes>[10,20,30] right". A restore requires the shape
  /// of the commit. A member whose size may change between commits leaves the size out, and accepts any size.
  virtual std::string shape() const = 0;
  /// Returns the current size. Called once before each pack. If the commit is refused, pack is not called.
  virtual ByteCount size() const = 0;
  /// Writes size() bytes.
  virtual void pack(std::span<std::byte> to) const = 0;
  /// Frees what size() keeps for pack(). Called after pack(), or in its place if the commit is refused.
  virtual void end_pack() const {}
  /// Returns the bytes that pack would write, if they are in memory in that order. The store then reads them without a
  /// copy. Otherwise returns an empty span.
  virtual std::span<const std::byte> contiguous() const { return {}; }
  /// For an object in other memory, such as device memory, whose bytes come through buffers: passes the bytes that pack
  /// would write to `take`, piece by piece, in order. Each piece is valid during the call. All pieces but the last have
  /// a multiple of bytes_of_pieces bytes. The store then reads the bytes without a second copy. For other objects,
  /// returns false without calling `take`.
  virtual bool pack_pieces(const TakePiece&) const { return false; }
  /// Reads the bytes that pack wrote.
  virtual void unpack(std::span<const std::byte> from) = 0;
  /// Returns the memory into which `unpack` would copy that many bytes unchanged, so that the caller can write there
  /// directly. Otherwise returns an empty span.
  virtual std::span<std::byte> place_for(ByteCount) { return {}; }
  /// The counterpart of pack_pieces: calls `fill` to write that many bytes, in order, into the pieces that it passes,
  /// and reads each piece. Ends when `fill` returns false. For objects that do not need it, returns false without
  /// calling `fill`.
  virtual bool unpack_pieces(ByteCount, const FillPiece&) { return false; }
  /// Returns the address of the object, or of the memory that it refers to. The address distinguishes two objects of
  /// one kind. Returns null if the address has no meaning.
  virtual const void* address() const { return nullptr; }
};

/// A plain value: numbers, enums, structs without pointers.
template <class T>
concept PlainValue = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_array_v<T>;

/// Contiguous plain values: std::span, std::vector, std::array, C arrays.
template <class T>
concept PlainRange =
    std::ranges::contiguous_range<T> && std::ranges::sized_range<T> && PlainValue<std::ranges::range_value_t<T>>;

/// Plain ranges that can be resized: std::vector, std::string.
template <class T>
concept ResizableRange = PlainRange<T> && requires(T& values) {
  values.resize(std::size_t{});
};

/// Makes a type of the application protectable. A specialisation defines
///   static std::vector<std::byte> write(const T&);
///   static void read(T&, std::span<const std::byte>);   // what write returned, of any size
template <class T>
struct Serializer;

template <class T>
concept Serializable = requires(const T& from, T& to, std::span<const std::byte> bytes) {
  { Serializer<T>::write(from) } -> std::same_as<std::vector<std::byte>>;
  Serializer<T>::read(to, bytes);
};

/// Indices from `begin` up to, but not including, `end`.
struct IndexRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Some elements of a contiguous range (mend::subset).
template <PlainValue T>
struct Subset {
  std::vector<std::span<T>> parts;
};

/// Selects the elements of `values` in these ranges of indices, to be protected without the others. `values` must not
/// be moved or resized afterwards. Throws UsageError for a range that is not in `values`.
template <PlainRange T>
auto subset(T& values, std::span<const IndexRange> ranges) {
  using Element = std::remove_reference_t<std::ranges::range_reference_t<T>>;
  const std::span<Element> all(std::ranges::data(values), std::ranges::size(values));
  Subset<Element> chosen;
  for (const IndexRange& range : ranges) {
    if (range.begin > range.end || range.end > all.size()) detail::refuse_range(range.begin, range.end, all.size());
    chosen.parts.push_back(all.subspan(range.begin, range.end - range.begin));
  }
  return chosen;
}
template <PlainRange T>
auto subset(T& values, std::initializer_list<IndexRange> ranges) {
  return subset(values, std::span(ranges.begin(), ranges.size()));
}

namespace detail {

std::string shape_text(const char* kind, std::size_t element_bytes, std::span<const std::size_t> extents);

template <PlainValue T>
class ValueMember final : public Member {
 public:
  explicit ValueMember(T& value) : value_(&value) {}
  std::string shape() const override { return shape_text("value", sizeof(T), {}); }
  ByteCount size() const override { return sizeof(T); }
  void pack(std::span<std::byte> to) const override { std::memcpy(to.data(), value_, sizeof(T)); }
  std::span<const std::byte> contiguous() const override { return std::as_bytes(std::span(value_, 1)); }
  void unpack(std::span<const std::byte> from) override { std::memcpy(value_, from.data(), sizeof(T)); }
  const void* address() const override { return value_; }

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
  std::span<const std::byte> contiguous() const override { return std::as_bytes(values_); }
  void unpack(std::span<const std::byte> from) override {
    if (!values_.empty()) std::memcpy(values_.data(), from.data(), values_.size_bytes());
  }
  std::span<std::byte> place_for(ByteCount) override { return std::as_writable_bytes(values_); }
  const void* address() const override { return values_.data(); }

 private:
  std::span<T> values_;
};

template <ResizableRange T>
class ContainerMember final : public Member {
 public:
  explicit ContainerMember(T& values) : values_(&values) {}
  std::string shape() const override { return shape_text("container", sizeof(Element), {}); }
  ByteCount size() const override { return values_->size() * sizeof(Element); }
  void pack(std::span<std::byte> to) const override {
    if (!values_->empty()) std::memcpy(to.data(), values_->data(), to.size());
  }
  std::span<const std::byte> contiguous() const override { return std::as_bytes(std::span(*values_)); }
  void unpack(std::span<const std::byte> from) override {
    const std::span<std::byte> place = place_for(from.size());
    if (!place.empty()) std::memcpy(place.data(), from.data(), place.size());
  }
  std::span<std::byte> place_for(ByteCount bytes) override {
    values_->resize(bytes / sizeof(Element));
    return std::as_writable_bytes(std::span(*values_));
  }
  const void* address() const override { return values_; }

 private:
  using Element = std::ranges::range_value_t<T>;
  T* values_;
};

template <PlainValue T>
class SubsetMember final : public Member {
 public:
  explicit SubsetMember(const Subset<T>& subset) : parts_(subset.parts) {}
  std::string shape() const override {
    std::vector<std::size_t> extents;
    extents.reserve(parts_.size());
    for (const std::span<T> part : parts_) extents.push_back(part.size());
    return shape_text("subset", sizeof(T), extents);
  }
  ByteCount size() const override {
    ByteCount bytes = 0;
    for (const std::span<T> part : parts_) bytes += part.size_bytes();
    return bytes;
  }
  void pack(std::span<std::byte> to) const override {
    for (const std::span<T> part : parts_) {
      if (!part.empty()) std::memcpy(to.data(), part.data(), part.size_bytes());
      to = to.subspan(part.size_bytes());
    }
  }
  void unpack(std::span<const std::byte> from) override {
    for (const std::span<T> part : parts_) {
      if (!part.empty()) std::memcpy(part.data(), from.data(), part.size_bytes());
      from = from.subspan(part.size_bytes());
    }
  }
  const void* address() const override { return parts_.empty() ? nullptr : parts_.front().data(); }

 private:
  std::vector<std::span<T>> parts_;
};

template <Serializable T>
class SerializedMember final : public Member {
 public:
  explicit SerializedMember(T& object) : object_(&object) {}
  std::string shape() const override { return "serialized object"; }
  ByteCount size() const override {
    written_ = Serializer<T>::write(*object_);
    return written_.size();
  }
  void pack(std::span<std::byte> to) const override {
    if (!written_.empty()) std::memcpy(to.data(), written_.data(), written_.size());
    end_pack();
  }
  void end_pack() const override { written_ = std::vector<std::byte>(); }  // `= {}` would keep the memory
  void unpack(std::span<const std::byte> from) override { Serializer<T>::read(*object_, from); }
  const void* address() const override { return object_; }

 private:
  T* object_;
  mutable std::vector<std::byte> written_;  // between size() and pack()
};

}  // namespace detail

/// Defines how a type is protected. A type of the application needs a Serializer or, to avoid a copy, a specialisation
/// of this with `static std::unique_ptr<Member> make(T&)`. For Kokkos Views see store/kokkos.hpp.
template <class T>
struct MemberOf;

template <PlainValue T>
requires(!PlainRange<T> && !Serializable<T>) struct MemberOf<T> {
  static std::unique_ptr<Member> make(T& value) { return std::make_unique<detail::ValueMember<T>>(value); }
};

template <Serializable T>
struct MemberOf<T> {
  static std::unique_ptr<Member> make(T& object) { return std::make_unique<detail::SerializedMember<T>>(object); }
};

/// A restore resizes the container to its size at the commit.
template <ResizableRange T>
requires(!Serializable<T>) struct MemberOf<T> {
  static std::unique_ptr<Member> make(T& values) { return std::make_unique<detail::ContainerMember<T>>(values); }
};

template <PlainValue T>
struct MemberOf<Subset<T>> {
  static std::unique_ptr<Member> make(Subset<T>& subset) { return std::make_unique<detail::SubsetMember<T>>(subset); }
};

/// The elements must not be moved after they are protected.
template <PlainRange T>
requires(!ResizableRange<T> && !Serializable<T>) struct MemberOf<T> {
  static std::unique_ptr<Member> make(T& values) {
    using Element = std::remove_reference_t<std::ranges::range_reference_t<T>>;
    static_assert(!std::is_const_v<Element>, "a protected range must be writable: restore writes into it");
    return std::make_unique<detail::SpanMember<Element>>(
        std::span<Element>(std::ranges::data(values), std::ranges::size(values)));
  }
};

/// Values and their place in an array that all ranks share. Made by part and replicated.
struct ArrayMember {
  std::unique_ptr<Member> values;
  ArrayPart place;
};

namespace detail {

/// Has the shape of the place and the data of the values.
class PartMember final : public Member {
 public:
  explicit PartMember(ArrayMember member) : member_(std::move(member)) { require_fit(); }
  std::string shape() const override { return to_string(member_.place); }
  /// Throws UsageError if the values are not as many as the part has elements: a container was resized.
  ByteCount size() const override {
    require_fit();
    return member_.values->size();
  }
  void pack(std::span<std::byte> to) const override { member_.values->pack(to); }
  void end_pack() const override { member_.values->end_pack(); }
  std::span<const std::byte> contiguous() const override { return member_.values->contiguous(); }
  bool pack_pieces(const TakePiece& take) const override { return member_.values->pack_pieces(take); }
  void unpack(std::span<const std::byte> from) override { member_.values->unpack(from); }
  std::span<std::byte> place_for(ByteCount bytes) override { return member_.values->place_for(bytes); }
  bool unpack_pieces(ByteCount bytes, const FillPiece& fill) override {
    return member_.values->unpack_pieces(bytes, fill);
  }
  const void* address() const override { return member_.values->address(); }

 private:
  void require_fit() const;

  ArrayMember member_;
};

}  // namespace detail

template <>
struct MemberOf<ArrayMember> {
  static std::unique_ptr<Member> make(ArrayMember& member) {
    return std::make_unique<detail::PartMember>(std::move(member));
  }
};

template <class T>
concept Protectable = requires(T& object) {
  { MemberOf<T>::make(object) } -> std::convertible_to<std::unique_ptr<Member>>;
};

namespace detail {
/// True if copies of a T refer to the same data (a span, a View), so that a temporary T can be protected.
template <class T>
inline constexpr bool refers_to_its_data = !PlainValue<T> && !std::ranges::range<T>;
template <class T, std::size_t Extent>
inline constexpr bool refers_to_its_data<std::span<T, Extent>> = true;
template <Serializable T>
inline constexpr bool refers_to_its_data<T> = false;

/// Fails to compile, with one sentence that states why, if an object that was given as T cannot be protected.
template <class T>
consteval bool can_be_protected() {
  using Object = std::remove_cvref_t<T>;
  constexpr bool has_a_way = Protectable<Object>;
  constexpr bool is_writable = !std::is_const_v<std::remove_reference_t<T>>;
  constexpr bool lives_on = std::is_lvalue_reference_v<T> || refers_to_its_data<Object>;
  static_assert(has_a_way,
                "mend cannot protect an object of this type: protect plain values, contiguous ranges of them or Kokkos "
                "Views, or specialise mend::Serializer for the type");
  static_assert(!has_a_way || is_writable, "mend cannot protect a const object: restore writes into it");
  static_assert(!has_a_way || lives_on, "protect an object that lives as long as the body, not a temporary");
  return has_a_way && is_writable && lives_on;
}

template <class T>
ArrayMember place(T& values, Extents extents, Extents offset, Extents whole) {
  using Element = std::remove_cv_t<std::ranges::range_value_t<T>>;
  using Stored = std::remove_reference_t<std::ranges::range_reference_t<T>>;
  static_assert(!std::is_const_v<Stored>, "a protected range must be writable: restore writes into it");
  ArrayPart part{element_name<Element>(), std::move(extents), std::move(offset), std::move(whole)};
  if constexpr (ResizableRange<T>) {  // as an object, whose elements may be swapped with those of another
    return {std::make_unique<ContainerMember<T>>(values), std::move(part)};
  } else {
    const std::span<Stored> all(std::ranges::data(values), std::ranges::size(values));
    return {std::make_unique<SpanMember<Stored>>(all), std::move(part)};
  }
}
}  // namespace detail

/// Returns this rank's part of an array that all ranks share, to be protected. `values` are the elements of a box of
/// `extents`, the last axis fastest; its first element has the index `offset` in an array of the extents `whole`. The
/// array can be restored to another number of ranks, which then declare their own parts. With --mend-disk, tools see
/// one array. Parts may overlap if they hold the same values. A std::vector is protected as an object: after std::swap,
/// each name has the other's elements. It must have as many at each commit. Local. Throws UsageError if the part does
/// not lie in the array or has another number of elements.
///   store.protect("u", mend::part(u, {global_size}, {first}));
template <class T>
requires PlainRange<std::remove_cvref_t<T>> ArrayMember part(T&& values, Extents whole, Extents offset,
                                                             Extents extents) {
  static_assert(std::is_lvalue_reference_v<T> || detail::refers_to_its_data<std::remove_cvref_t<T>>,
                "protect an object that lives as long as the body, not a temporary");
  return detail::place(values, std::move(extents), std::move(offset), std::move(whole));
}
/// The same for an array with one axis.
template <class T>
requires PlainRange<std::remove_cvref_t<T>> ArrayMember part(T&& values, Extents whole, Extents offset) {
  return part(std::forward<T>(values), std::move(whole), std::move(offset), {std::ranges::size(values)});
}

/// Fails to compile, with one sentence that states why values cannot be part of an array. Views can, with
/// store/kokkos.hpp.
template <class T>
requires(!PlainRange<std::remove_cvref_t<T>>) ArrayMember
    part(T&&, const Extents&, const Extents&, const Extents& = {}) {
  static_assert(PlainRange<std::remove_cvref_t<T>>,
                "mend::part takes contiguous ranges of plain values, as std::vector, std::span and arrays are, or "
                "Kokkos Views: protect an object of another type without it, by a mend::Serializer");
  return {};
}

/// Returns a member for data that is the same on all ranks, such as the step number. A restart restores it on every
/// rank, for any number of ranks. The store does not check that the data is the same. Local.
template <class T>
requires PlainRange<T> ArrayMember replicated(T& values) {
  const Extents all{std::ranges::size(values)};
  return detail::place(values, all, Extents{0}, all);
}
template <PlainValue T>
requires(!PlainRange<T>) ArrayMember replicated(T& value) {
  return {std::make_unique<detail::ValueMember<T>>(value), {detail::element_name<T>(), {1}, {0}, {1}}};
}
/// Fails to compile, with one sentence that states why an object cannot be replicated.
template <class T>
requires(!PlainRange<T> && !PlainValue<T>) ArrayMember replicated(T&) {
  static_assert(PlainValue<T>,
                "mend::replicated takes plain values and contiguous ranges of them: protect an object of another type "
                "without it, by a mend::Serializer");
  return {};
}

}  // namespace mend
