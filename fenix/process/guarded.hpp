// Runs the work of a Fenix function, recovers from process failures, and converts errors to Fenix codes.

#pragma once

#include "fenix/process/job.hpp"

#include <exception>
#include <functional>

namespace mend::fenix {

/// The result of a Fenix function.
struct Outcome {
  int code;
  bool recovered = false;  ///< from a failure, so that the caller must resume
};

/// Holds an exception of a function of the program that a Fenix function has called. guarded() throws it again.
struct ThrownByProgram {
  std::exception_ptr exception;
};

/// Runs `work`, which returns the code of the function and may throw any exception of mend, and recovers from failures.
/// Throws the exception that the program has thrown (ThrownByProgram).
Outcome guarded(const char* function, const std::function<int()>& work);

/// The same without a recovery: if `recovered` is set, the caller must recover from a failure.
Outcome tried(const char* function, const std::function<int()>& work);

/// Call it last, in a function with C linkage that holds no object with a destructor.
inline int settle(Outcome outcome) {
  if (outcome.recovered) resume();
  return outcome.code;
}

}  // namespace mend::fenix
