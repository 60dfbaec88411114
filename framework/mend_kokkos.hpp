// Regions that find the Views they work on, as in KokkosResilience.
//
//     #include <mend_kokkos.hpp>
//
//     for (int step = 0; step < 1000; ++step) {
//       mend::kokkos::checkpoint(session, "heat", step, [=] {      // captures by value: u and v are found
//         Kokkos::parallel_for("heat", n, KOKKOS_LAMBDA(int i) { v(i) = ...u(i)...; });
//       });
//     }
//
// A region is a lambda, a label, and a step number. The Views that the lambda has captured by value are protected under
// their labels. Several regions may share Views; each allocation is protected once (framework/kokkos/allocations.hpp).
// After a step, if session.commit_due() returns true, the region commits all protected data and the last step of each
// region.
//
//   first call of an entry of the body        restores, if there is a version that has this region
//   step is not after the one restored        the lambda is not called: its Views have what that step left
//   else                                      calls the lambda, and commits when due
//
// So after a failure the program runs through its steps again, and the regions skip the steps that were restored. Code
// outside of regions runs again. Data that it changes must belong to a region, or be protected and advanced with the
// step.
//
// Data that a lambda has by reference or by `this`, and Views that do not manage their memory, are not found: protect
// them with store.protect.

#pragma once

#include "framework/kokkos/regions.hpp"
#include "framework/session.hpp"

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <typeinfo>

namespace mend::kokkos {

/// Declares that a type is a plain value (a struct without pointers), so that Views of it are found and protected as
/// bytes. Numbers and complex numbers are known. Call it before the first region with Views of the type. Local.
template <class T>
void plain() {
  static_assert(std::is_trivially_copyable_v<T>, "a plain value can be copied as bytes");
  detail::declared_plain().insert(detail::name_of(typeid(T)));
}

/// Calls `lambda`, unless this step of the region was restored. Protects the Views that it has captured by value, and
/// commits afterwards if session.commit_due() returns true. Steps count from 0 and grow. Returns true if the lambda was
/// called. Collective over the session's ranks, with the same label and step. Throws as restore() and commit() do, what
/// the lambda throws, and UsageError for two Views of one label, for elements that are not plain values, for Views in a
/// memory space that mend does not know, for a region inside a region, and if another tool of Kokkos has taken mend's
/// place.
template <class Lambda>
bool checkpoint(Session& session, std::string_view label, std::int64_t step, const Lambda& lambda) {
  return detail::run_region(session, label, step, lambda, [&] { return session.commit_due(); });
}

/// The same, but commits if `filter(step)` returns true. It must return the same on all ranks.
///   mend::kokkos::checkpoint(session, "heat", step, work, [](std::int64_t step) { return step % 10 == 9; });
template <class Lambda, class Filter>
bool checkpoint(Session& session, std::string_view label, std::int64_t step, const Lambda& lambda, Filter filter) {
  return detail::run_region(session, label, step, lambda, [&] { return filter(step); });
}

/// Returns the last step of this region that was done or restored in this entry of the body; -1 if there is none, or
/// before the first call of a region. Local.
inline std::int64_t last_step(Session& session, std::string_view label) {
  return session.of_this_entry<detail::Regions>().last(label);
}

}  // namespace mend::kokkos
