#pragma once

#include <memory>

namespace mend::agreement {

/// A value that is nearly always the default value. The default value is stored as a null pointer. Copies are deep.
template <class T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(const Boxed& other) : box_(other.box_ ? std::make_unique<T>(*other.box_) : nullptr) {}
  Boxed& operator=(const Boxed& other) {
    if (!other.box_) {
      box_.reset();
    } else if (this != &other) {
      box_ = std::make_unique<T>(*other.box_);
    }
    return *this;
  }
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(Boxed&&) noexcept = default;
  ~Boxed() = default;

  /// Returns true if the value is known to be the default without a look inside.
  bool empty() const { return !box_; }
  /// Returns null when empty.
  const T* get() const { return box_.get(); }
  /// Returns the value, for writing.
  T& open() {
    if (!box_) box_ = std::make_unique<T>();
    return *box_;
  }
  void clear() { box_.reset(); }

  bool operator==(const Boxed& other) const {
    static const T none{};
    return (box_ ? *box_ : none) == (other.box_ ? *other.box_ : none);
  }

 private:
  std::unique_ptr<T> box_;
};

}  // namespace mend::agreement
