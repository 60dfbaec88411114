// Finds the Kokkos allocations that an object holds, such as the Views that a lambda has captured, whatever their
// types.
//
// A View that manages its memory shares a record with all Views of the same memory: subviews, copies of another layout
// or constness. The record counts them. So an object is copied, and the counts that have grown show what it holds, also
// in vectors or structs that it has by value. Two Views of one memory are one allocation. Views that do not manage
// their memory have no record and are not found, and neither is what an object has by reference or pointer.
//
//     count before copying:   u: 2   v: 1   w: 3
//     count with the copy:    u: 3   v: 1   w: 5        the object holds u once, and w twice
//
// Kokkos reports each allocation to a tool, and this is that tool; it begins before main. Kokkos has one place for a
// tool of this kind. If another tool takes it, Held::by throws UsageError.
//
// The element type of an allocation is part of the type of its record. Views of Views are recognised by it, and their
// elements are found by the records that they name. Memory whose elements are not known to be plain values is refused.

#pragma once

#include "base/error.hpp"
#include "store/kokkos.hpp"

#include <cxxabi.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

static_assert(KOKKOS_VERSION >= 30400,
              "mend::kokkos::checkpoint needs Kokkos 3.4 or newer, which tells of its allocations: update Kokkos, or "
              "protect each View by store.protect");

namespace mend::kokkos::detail {

using Record = Kokkos::Impl::SharedAllocationRecord<void, void>;
using Header = Kokkos::Impl::SharedAllocationHeader;

/// An allocation that Views share.
struct Shared {
  std::string label;
  std::uint64_t number = 0;  ///< of the allocation: the same on each run of the program, which addresses are not
  std::string element;       ///< the type of its elements, as the compiler spells it
  bool is_number = false;
  Record* record = nullptr;
  /// Makes the store's member for the allocation.
  std::unique_ptr<Member> (*member)(Record* record) = nullptr;
  /// Returns the allocation's bytes, copied to host memory.
  std::vector<std::byte> (*bytes)(Record* record) = nullptr;
};

/// All allocations of Kokkos that are not freed. There is one object in a process, because Kokkos's callbacks have no
/// argument.
class Allocations {
 public:
  struct Entry {
    std::string space;
    std::string label;
    std::uint64_t number = 0;        ///< counts allocations, because addresses are reused
    bool is_known = false;           ///< `shared` has been determined
    std::optional<Shared> shared{};  ///< nothing if no View was made of it
  };
  using Entries = std::map<void*, Entry>;

  static Allocations& instance() {
    static Allocations* const one = new Allocations;  // never destroyed, because Views may be freed later
    return *one;
  }

  /// Returns a copy of the present entries.
  Entries all() const {
    const std::lock_guard lock(mutex_);
    return entries_;
  }

  /// Stores what was determined for an entry, unless its allocation was freed since.
  void remember(void* at, const Entry& entry) {
    const std::lock_guard lock(mutex_);
    if (const auto found = entries_.find(at); found != entries_.end() && found->second.number == entry.number)
      found->second = entry;
  }

  /// Returns true if Kokkos reports allocations here, and not to another tool.
  static bool is_told() { return Kokkos::Tools::Experimental::get_callbacks().allocate_data == &note; }

  static bool begin() {
    instance();
    Kokkos::Tools::Experimental::set_allocate_data_callback(&note);
    Kokkos::Tools::Experimental::set_deallocate_data_callback(&forget);
    return true;
  }

 private:
  using Space = Kokkos::Tools::SpaceHandle;

  static void note(const Space space, const char* label, const void* at, const std::uint64_t) {
    Allocations& self = instance();
    const std::lock_guard lock(self.mutex_);
    self.entries_[const_cast<void*>(at)] = {space.name, label, ++self.numbers_};
  }
  static void forget(const Space, const char*, const void* at, const std::uint64_t) {
    Allocations& self = instance();
    const std::lock_guard lock(self.mutex_);
    self.entries_.erase(const_cast<void*>(at));
  }

  mutable std::mutex mutex_;
  Entries entries_;
  std::uint64_t numbers_ = 0;
};

/// Begins before main.
inline const bool allocations_are_noted = Allocations::begin();

/// The memory of an allocation, as bytes. It shares ownership, so the memory stays valid.
template <class Space>
class AllocationMember final : public Member {
 public:
  using View = mend::detail::BytesIn<std::byte, Space>;

  explicit AllocationMember(Record* record) : bytes_(view_of(record)) {
    tracker_.assign_allocated_record_to_uninitialized(record);
  }
  AllocationMember(const AllocationMember&) = delete;
  AllocationMember& operator=(const AllocationMember&) = delete;

  static View view_of(Record* record) { return View(static_cast<std::byte*>(record->data()), record->size()); }

  std::string shape() const override { return bytes_.shape(); }
  ByteCount size() const override { return bytes_.size(); }
  void pack(std::span<std::byte> to) const override { bytes_.pack(to); }
  std::span<const std::byte> contiguous() const override { return bytes_.contiguous(); }
  bool pack_pieces(const TakePiece& take) const override { return bytes_.pack_pieces(take); }
  void unpack(std::span<const std::byte> from) override { bytes_.unpack(from); }
  std::span<std::byte> place_for(ByteCount bytes) override { return bytes_.place_for(bytes); }
  bool unpack_pieces(ByteCount bytes, const FillPiece& fill) override { return bytes_.unpack_pieces(bytes, fill); }
  const void* address() const override { return bytes_.address(); }

 private:
  mend::detail::ViewMember<View> bytes_;
  Kokkos::Impl::SharedAllocationTracker tracker_;
};

/// Returns the element types other than numbers that the program has declared plain values.
inline std::set<std::string>& declared_plain() {
  static std::set<std::string> all;
  return all;
}

inline std::string name_of(const std::type_info& type) {
  int status = 0;
  char* const text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : type.name();
  std::free(text);
  return name;
}

/// Returns the template arguments in a text that begins after the "<" of "Template<A, B<C, D>, E>".
inline std::vector<std::string> arguments_in(std::string_view text) {
  std::vector<std::string> found(1);
  int depth = 0;
  for (const char letter : text) {
    if (letter == '>' && depth == 0) break;
    if (letter == '<' || letter == '(') ++depth;
    if (letter == '>' || letter == ')') --depth;
    if (letter == ',' && depth == 0) {
      found.emplace_back();
    } else if (letter != ' ' || !found.back().empty()) {
      found.back().push_back(letter);
    }
  }
  for (std::string& one : found) one.erase(one.find_last_not_of(' ') + 1);
  return found;
}

/// Returns true for the names of arithmetic types.
inline bool is_arithmetic(std::string_view type) {
  static const std::set<std::string_view> all{"bool",           "char",
                                              "signed char",    "unsigned char",
                                              "char8_t",        "char16_t",
                                              "char32_t",       "wchar_t",
                                              "short",          "int",
                                              "long",           "long long",
                                              "unsigned short", "unsigned int",
                                              "unsigned long",  "unsigned long long",
                                              "__int128",       "unsigned __int128",
                                              "float",          "double",
                                              "long double"};
  return all.contains(type);
}

/// Reads the element type from the type of a record: the second argument of Kokkos's functor, and whether it is a
/// number or the like, which the third argument says before Kokkos 4.
inline void read_element(const Record& record, Shared& shared) {
  const std::string type = name_of(typeid(record));
  const auto functor = type.find("ViewValueFunctor");  // or ViewValueFunctorSequentialHostInit
  const auto at = functor == std::string::npos ? functor : type.find('<', functor);
  if (at == std::string::npos) return;
  const auto arguments = arguments_in(std::string_view(type).substr(at + 1));
  if (arguments.size() < 2) return;
  shared.element = arguments[1];
  const bool says_scalar = arguments.size() > 2 && arguments[2] == "true" && !shared.element.ends_with('*');
  const bool is_scalar = says_scalar || is_arithmetic(shared.element);
  const bool is_complex = shared.element.starts_with("Kokkos::complex<") || shared.element.starts_with("std::complex<");
  shared.is_number = is_scalar || is_complex;
}

/// Copies the first bytes of an allocation, as many as a header has. The allocation may be shorter if no View was made
/// of it: Kokkos reports sizes without headers, and does not say which allocations have one. Returns false if there is
/// no memory behind it. In host memory the kernel copies, which then fails without a signal. Allocators of devices give
/// out memory in larger units than a header.
template <class Space>
bool copy_beginning(void* at, std::span<std::byte, sizeof(Header)> to) {
  if constexpr (std::is_same_v<Space, Kokkos::HostSpace>) {
    const iovec here{to.data(), to.size()};
    const iovec there{at, to.size()};
    const ssize_t copied = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0);
    if (copied >= 0 || errno == EFAULT) return copied == static_cast<ssize_t>(to.size());
    // Some sandboxes forbid this call.
  }
  Kokkos::deep_copy(mend::detail::BytesIn<std::byte, Kokkos::HostSpace>(to.data(), to.size()),
                    mend::detail::BytesIn<std::byte, Space>(static_cast<std::byte*>(at), to.size()));
  return true;
}

/// Returns the record of an allocation in that space; null if there is none, because no View was made of it.
template <class Space>
Record* record_at(void* at, const std::string& label) {
  alignas(Header) std::byte header[sizeof(Header)];
  if (!copy_beginning<Space>(at, header)) return nullptr;
  const char* const told = reinterpret_cast<const Header*>(header)->label();
  constexpr std::size_t longest = sizeof(Header) - sizeof(Record*) - 1;
  if (std::strncmp(told, label.c_str(), longest) != 0) return nullptr;
  return Kokkos::Impl::SharedAllocationRecord<Space, void>::get_record(static_cast<std::byte*>(at) + sizeof(Header));
}

/// Determines the record of an entry. Returns false if the entry is in another space.
template <class Space>
bool look_at(void* at, Allocations::Entry& entry) {
  if (entry.space != Space::name()) return false;
  Record* const record = record_at<Space>(at, entry.label);
  if (record == nullptr) return true;
  Shared shared;
  shared.label = entry.label;
  shared.number = entry.number;
  shared.record = record;
  shared.member = [](Record* of) -> std::unique_ptr<Member> { return std::make_unique<AllocationMember<Space>>(of); };
  shared.bytes = [](Record* of) {
    std::vector<std::byte> bytes(of->size());
    Kokkos::deep_copy(mend::detail::BytesIn<std::byte, Kokkos::HostSpace>(bytes.data(), bytes.size()),
                      AllocationMember<Space>::view_of(of));
    return bytes;
  };
  read_element(*record, shared);
  entry.shared = std::move(shared);
  return true;
}

inline bool look_in_all_spaces(void* at, Allocations::Entry& entry) {
  using Device = Kokkos::DefaultExecutionSpace::memory_space;
  if (look_at<Kokkos::HostSpace>(at, entry) || look_at<Device>(at, entry)) return true;
#if defined(KOKKOS_HAS_SHARED_SPACE)
  if (look_at<Kokkos::SharedSpace>(at, entry)) return true;
#endif
#if defined(KOKKOS_HAS_SHARED_HOST_PINNED_SPACE)
  if (look_at<Kokkos::SharedHostPinnedSpace>(at, entry)) return true;
#endif
  return false;
}

/// Returns all allocations that Views share, in the order in which they were made. Throws UsageError if one is in a
/// memory space that mend does not know, because it cannot tell who holds it. Kokkos's own allocations do not matter.
inline std::vector<Shared> shared_allocations() {
  std::vector<Shared> all;
  for (auto& [at, entry] : Allocations::instance().all()) {
    if (!entry.is_known) {
      if (!look_in_all_spaces(at, entry) && !entry.label.starts_with("Kokkos::")) {
        throw UsageError("View '" + entry.label + "' is in the memory space " + entry.space +
                         ", where regions do not find Views: protect data by store.protect, without regions");
      }
      entry.is_known = true;
      Allocations::instance().remember(at, entry);
    }
    if (entry.shared) all.push_back(*entry.shared);
  }
  std::ranges::sort(all, {}, &Shared::number);
  return all;
}

/// The allocations that an object holds, by their names in the store. A name is the label of a View, or that of a View
/// of Views with a number. What the object holds itself is named first, and in the order in which it was allocated: so
/// the names are the same in all processes.
class Held {
 public:
  template <class Object>
  static std::map<std::string, Shared> by(const Object& object) {
    if (!Allocations::is_told()) {
      throw UsageError(
          "a tool of Kokkos has taken the place where mend hears of Views: run without KOKKOS_TOOLS_LIBS, or protect "
          "each View by store.protect");
    }
    const std::vector<Shared> all = shared_allocations();
    std::map<Record*, int> before;
    for (const Shared& shared : all) before[shared.record] = shared.record->use_count();
    const Object copy = object;
    std::vector<Shared> held;
    for (const Shared& shared : all) {
      if (shared.record->use_count() > before[shared.record]) held.push_back(shared);
    }
    static_cast<void>(copy);
    return std::move(Held(all, std::move(held)).named_);
  }

 private:
  Held(const std::vector<Shared>& all, std::vector<Shared> held) {
    for (const Shared& shared : all) all_.emplace(shared.record, shared);
    name_flags(held);
    const auto of_views =
        std::stable_partition(held.begin(), held.end(), [](const Shared& one) { return !is_of_views(one); });
    for (auto one = held.begin(); one != of_views; ++one) add(one->label, *one);
    for (auto one = of_views; one != held.end(); ++one) add(one->label, *one);
  }

  /// The label that Kokkos gives to the flags of each DualView, which say where its data is newer.
  static constexpr std::string_view flags_of_dual_view = "DualView::modified_flags";

  /// Names the flags of each DualView after its data, which a DualView that is made by its label allocates next.
  static void name_flags(std::vector<Shared>& held) {
    const auto is_flags = [](const Shared& one) { return one.label == flags_of_dual_view; };
    for (auto flags = held.begin(); flags != held.end(); ++flags) {
      if (!is_flags(*flags)) continue;
      const auto data = std::next(flags);
      if (data == held.end() || is_flags(*data)) {
        throw UsageError(
            "a region captures a DualView that was resized or made of Views, so its flags cannot be told from those of "
            "others: make it by its label and extents, or protect its Views by store.protect");
      }
      flags->label += " of " + data->label;
    }
  }

  void add(const std::string& name, const Shared& shared) {
    if (!taken_.insert(shared.record).second) return;
    if (is_of_views(shared)) {
      add_elements(name, shared);
      return;
    }
    if (name.empty()) throw UsageError("a View that a region captures has no label: give it one");
    if (!shared.is_number && !declared_plain().contains(shared.element)) {
      throw UsageError("View '" + name + "' has elements of the type " + shared.element +
                       ", of which mend does not know that they are plain values: declare it by "
                       "mend::kokkos::plain<T>(), or protect what is in it yourself");
    }
    if (!named_.emplace(name, shared).second)
      throw UsageError("two Views that a region captures have the label '" + name + "': give each a label of its own");
  }

  static bool is_of_views(const Shared& shared) { return shared.element.starts_with("Kokkos::View<"); }

  /// Adds the Views that are the elements of a View. Each names its record.
  void add_elements(const std::string& name, const Shared& shared) {
    const std::vector<std::byte> bytes = shared.bytes(shared.record);
    int number = 0;
    for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= bytes.size(); at += sizeof(std::uintptr_t)) {
      std::uintptr_t word = 0;
      std::memcpy(&word, bytes.data() + at, sizeof word);
      const auto inner = all_.find(reinterpret_cast<Record*>(word & ~std::uintptr_t{1}));
      if (inner != all_.end() && inner->first != shared.record)
        add(name + "[" + std::to_string(number++) + "]", inner->second);
    }
  }

  std::map<Record*, Shared> all_;
  std::set<Record*> taken_;
  std::map<std::string, Shared> named_;
};

}  // namespace mend::kokkos::detail
