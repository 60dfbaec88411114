// Programs in C++ for Fenix that check what data a death has left.

#pragma once

#include <fenix.hpp>

#include <cstdio>

#include "../checks.h"
#include "../die.h"

/// Returns what `call` returns, or the code of what it throws.
template <class Call>
int code_of(const Call& call) {
  try {
    return call();
  } catch (const fenix::RuntimeException& refused) {
    return refused.error;
  }
}

/// Runs a program on `comm`: `before`, then a death at `place`, then `after` on all ranks, which is told if this
/// process has taken over a rank. Returns the exit code.
template <class Before, class After>
int play(int argc, char** argv, MPI_Comm& comm, const Before& before, const char* place, const After& after) {
  read_deaths(argc, argv);
  MPI_Init(&argc, &argv);
  fenix::init({.out_comm = &comm, .argc = &argc, .argv = &argv, .spares = 1});
  const bool takes_over = fenix::role() == fenix::RECOVERED_RANK;
  MPI_Comm_rank(comm, &rank);
  try {
    if (takes_over) fenix::throw_exception();
    before();
    MPI_Barrier(comm);  // all have come so far
    die_at(place, 0, rank);
    MPI_Barrier(comm);
    CHECK(false);
  } catch (const fenix::CommException&) {
    after(takes_over);
  }
  CHECK(Fenix_Finalize() == FENIX_SUCCESS);
  std::printf("rank %d: %d checks failed\n", rank, failed);
  MPI_Finalize();
  return failed != 0 ? 1 : 0;
}
