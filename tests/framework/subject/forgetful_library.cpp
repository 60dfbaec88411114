#include "tests/framework/subject/forgetful_library.hpp"

#include <mpi.h>
// Needs mpi.h.
#include <mpi-ext.h>

#include <dlfcn.h>
#include <unistd.h>

#include <string>

namespace {

std::string& forgotten_in() {
  static std::string call;
  return call;
}

void forget_in(const char* call) {
  while (forgotten_in() == call) ::pause();
}

template <class Function>
Function* of_library(Function*, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {
void forget_this_process_in(const char* call) { forgotten_in() = call; }

// NOLINTBEGIN(readability-identifier-naming): MPI's names
int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* made) {
  forget_in("shrink");
  static auto* const library = of_library(&MPIX_Comm_shrink, "MPIX_Comm_shrink");
  return library(comm, made);
}

int MPIX_Comm_agree(MPI_Comm comm, int* flag) {
  forget_in("agree");
  static auto* const library = of_library(&MPIX_Comm_agree, "MPIX_Comm_agree");
  return library(comm, flag);
}

int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  forget_in("waitall");
  static auto* const library = of_library(&PMPI_Waitall, "PMPI_Waitall");
  return library(count, requests, statuses);
}

int PMPI_Barrier(MPI_Comm comm) {
  forget_in("barrier");
  static auto* const library = of_library(&PMPI_Barrier, "PMPI_Barrier");
  return library(comm);
}

int PMPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  forget_in("allreduce");
  static auto* const library = of_library(&PMPI_Allreduce, "PMPI_Allreduce");
  return library(from, to, count, type, op, comm);
}

int PMPI_Sendrecv(const void* from, int from_count, MPI_Datatype from_type, int to_rank, int to_tag, void* to,
                  int to_count, MPI_Datatype to_type, int from_rank, int from_tag, MPI_Comm comm, MPI_Status* status) {
  if (comm != MPI_COMM_SELF) forget_in("sendrecv");  // mend copies values by messages to itself
  static auto* const library = of_library(&PMPI_Sendrecv, "PMPI_Sendrecv");
  return library(from, from_count, from_type, to_rank, to_tag, to, to_count, to_type, from_rank, from_tag, comm,
                 status);
}
// NOLINTEND(readability-identifier-naming)
}
