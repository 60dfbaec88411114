// Invariants of mend itself: conditions that hold independently of what the program, the machine and the other
// processes do. If one is broken, continuing would corrupt data or split the job. So the process stops, and the others
// recover.

#pragma once

#include <source_location>

namespace mend {

namespace detail {
[[noreturn]] void stop_at_broken(const char* invariant, const std::source_location& where);
}

/// Stops this process with a sentence (fail_stop) unless `holds`. `invariant` states the condition. For cheap checks:
/// they are made in every build.
inline void require(bool holds, const char* invariant,
                    const std::source_location& where = std::source_location::current()) {
  if (!holds) [[unlikely]]
    detail::stop_at_broken(invariant, where);
}

}  // namespace mend

/// The same for an expensive check: `condition` is evaluated in debug builds only, in which the unit tests run too.
#ifdef NDEBUG
#define MEND_ASSERT(condition, invariant) static_cast<void>(0)
#else
#define MEND_ASSERT(condition, invariant) ::mend::require((condition), invariant)
#endif
