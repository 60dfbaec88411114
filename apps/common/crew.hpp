// The ranks that are there. Where some were given up and the others keep their numbers (--mend-on-failure blank), rank
// 0 may be nobody, and the highest number says little about how many there are.

#pragma once

#include "framework/session.hpp"

namespace apps {

/// Where this rank is in the session's communicator.
inline mend::Rank place_of_self(const mend::Session& session) { return *session.rank_in_comm(session.rank()); }

/// How many ranks there are.
inline int crew_size(const mend::Session& session) {
  int size = 0;
  MPI_Comm_size(session.comm(), &size);
  return size;
}

/// Whether this rank speaks for all: the first there is.
inline bool speaks(const mend::Session& session) { return place_of_self(session) == mend::Rank{0}; }

}  // namespace apps
