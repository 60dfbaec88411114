// Regions that find the Views they work on by themselves, as users of KokkosResilience have them.
//
//     #include <mend_kokkos.hpp>
//
//     for (int step = 0; step < 1000; ++step) {
//       mend::kokkos::checkpoint(session, "heat", step, [=] {      // captures by value: u and v are found
//         Kokkos::parallel_for("heat", n, KOKKOS_LAMBDA(int i) { v(i) = ...u(i)...; });
//       });
//     }
//
// A region is a lambda, a label, and the number of the step. The Views that the lambda has captured by value are
// protected under their labels; those of several regions, too, and each memory once (framework/kokkos/allocations.hpp).
// After each step the region commits, when session.commit_due() says so, everything that is protected and how far each
// region has come.
//
//   first call of an entry of the body        restores, if there is a version that has this region
//   step is not after the one restored        the lambda is not called: its Views have what that step left
//   else                                      calls the lambda, and commits when due
//
// So after a failure the program runs through its steps again, and the regions pass over what was done. What is outside
// of regions is done again: what it changes belongs into the region, or is protected and advanced with the step.
//
// What a lambda has by reference or by `this`, and Views that do not manage their memory, are not found: protect them
// by store.protect.

#pragma once

#include "framework/kokkos/regions.hpp"
#include "framework/session.hpp"

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <typeinfo>

namespace mend::kokkos {

/// Declares that a type is a plain value, so that Views of it are found and protected as bytes: a struct without
/// pointers. Numbers and complex numbers are known. Local; before the first region that has such a View.
template <class T>
void plain() {
  static_assert(std::is_trivially_copyable_v<T>, "a plain value can be copied as bytes");
  detail::declared_plain().insert(detail::name_of(typeid(T)));
}

/// Calls `lambda`, unless this step of the region was restored; protects the Views that it has captured by value, and
/// commits afterwards when session.commit_due() says so. Steps count from 0 and grow. Returns whether it was called.
/// Collective over the session's ranks, with the same label and step. Throws as restore() and commit() do, what the
/// lambda throws, and UsageError for two Views of one label, for elements that are no plain values, for a region in a
/// region, and when a tool of Kokkos has taken the place of mend.
template <class Lambda>
bool checkpoint(Session& session, std::string_view label, std::int64_t step, const Lambda& lambda) {
  return detail::run_region(session, label, step, lambda, [&] { return session.commit_due(); });
}

/// The same, which commits when `filter(step)` is true; the same on all ranks.
///   mend::kokkos::checkpoint(session, "heat", step, work, [](std::int64_t step) { return step % 10 == 9; });
template <class Lambda, class Filter>
bool checkpoint(Session& session, std::string_view label, std::int64_t step, const Lambda& lambda, Filter filter) {
  return detail::run_region(session, label, step, lambda, [&] { return filter(step); });
}

/// The last step of this region that was done or restored in this entry of the body; -1 if there is none, as before its
/// first call. Local.
inline std::int64_t last_step(Session& session, std::string_view label) {
  return session.of_this_entry<detail::Regions>().last(label);
}

}  // namespace mend::kokkos
