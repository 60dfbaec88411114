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
// NOLINTEND(readability-identifier-naming)
}
