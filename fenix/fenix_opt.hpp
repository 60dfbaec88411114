// fenix_require and fenix_assert, which examples of Fenix use.

#pragma once

namespace fenix {
/// Prints the predicate that is false, and ends the job by MPI_Abort with code 1. Local.
[[noreturn]] void end_for_requirement(const char* predicate, const char* file, int line, const char* function);
/// The same, with a reason in printf's format.
[[noreturn, gnu::format(printf, 5, 6)]] void end_for_requirement(const char* predicate, const char* file, int line,
                                                                 const char* function, const char* format, ...);
}  // namespace fenix

/// Ends the job if the predicate is false. After it, a reason may follow: a format as for printf, and its arguments.
#define fenix_require(predicate, ...)                                                                    \
  do {                                                                                                   \
    if (!(predicate))                                                                                    \
      ::fenix::end_for_requirement(#predicate, __FILE__, __LINE__, __func__ __VA_OPT__(, ) __VA_ARGS__); \
  } while (0)

/// The same, in a build without NDEBUG; otherwise nothing.
#ifdef NDEBUG
#define fenix_assert(...) \
  do {                    \
  } while (0)
#else
#define fenix_assert(...) fenix_require(__VA_ARGS__)
#endif
