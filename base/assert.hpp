// Invariants of mend's own: what must hold whatever the program, the machine and the other processes do. Where one is
// broken, going on would corrupt data or split the job, so the process stops, and the others recover.

#pragma once

#include <source_location>

namespace mend {

namespace detail {
[[noreturn]] void stop_at_broken(const char* invariant, const std::source_location& where);
}

/// Stops this process with a sentence (fail_stop) unless `holds`. `invariant` says what must hold. For checks that cost
/// next to nothing: they are made in every build.
inline void require(bool holds, const char* invariant,
                    const std::source_location& where = std::source_location::current()) {
  if (!holds) [[unlikely]]
    detail::stop_at_broken(invariant, where);
}

}  // namespace mend

/// The same for a check that costs more: `condition` is evaluated in debug builds only, with which the unit tests run
/// too.
#ifdef NDEBUG
#define MEND_ASSERT(condition, invariant) static_cast<void>(0)
#else
#define MEND_ASSERT(condition, invariant) ::mend::require((condition), invariant)
#endif
