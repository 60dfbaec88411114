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

/// Holds what a function of the program has thrown that one of Fenix's has called: guarded() throws it on.
struct ThrownByProgram {
  std::exception_ptr exception;
};

/// Does what a function stands for; `work` returns its code, and may throw whatever mend throws. Throws what the
/// program has thrown (ThrownByProgram).
Outcome guarded(const char* function, const std::function<int()>& work);

/// The same without a recovery: `recovered` says that a failure is to be recovered from.
Outcome tried(const char* function, const std::function<int()>& work);

/// To be called last, by a function with C linkage that has nothing to destroy.
inline int settle(Outcome outcome) {
  if (outcome.recovered) resume();
  return outcome.code;
}

}  // namespace mend::fenix
