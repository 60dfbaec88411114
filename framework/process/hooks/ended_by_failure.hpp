// Calls that test requests or look for messages, in a rank that has to leave the body. A program in C or Fortran that
// does not look at codes would call them for ever, because nothing comes there any more. So they say that all has come.

#pragma once

#include "framework/local_rollback/logged_calls.hpp"
#include "transport/mpi.hpp"

namespace mend {

/// Returns `code`, of a call that tests requests or looks for messages. If this rank has to leave the body, calls
/// `end`, which says that they are complete or there. Local.
template <class End>
int ended_by_failure(const LoggedCalls& logged, int code, End end) {
  if (logged.has_to_leave() && outcome_of(code) == MpiOutcome::failure) end();
  return code;
}

}  // namespace mend
