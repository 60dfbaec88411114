#pragma once

#include "transport/library_calls.hpp"
#include "transport/mpi.hpp"

#include <mpi.h>

#include <optional>

namespace mend {

/// Makes MPI's own call. Its errors are returned.
template <class Call>
int quietly(Call call) {
  const ErrorsReturned quiet;
  return call();
}

/// Takes a pending receive back from MPI, if there is one. Errors must be returned.
inline void withdraw(MPI_Request& receive) {
  if (receive == MPI_REQUEST_NULL) return;
  PMPI_Cancel(&receive);
  PMPI_Wait(&receive, MPI_STATUS_IGNORE);
}

/// Returns the largest tag of a message. Main thread.
int highest_tag();

/// Returns true if this is one of MPI's own types. They are never freed, and MPI's own operations are not defined for
/// duplicates of them. Local.
bool is_of_mpi(MPI_Datatype type);

/// One of MPI's own types, or none. They are never freed, so what is known of one stays true.
struct PlainType {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::optional<int> size;
};
inline PlainType last_plain_type;
std::optional<int> find_plain_size(MPI_Datatype type);

/// Returns the size of a value of one of MPI's own types whose layout in memory is the packed one; otherwise nothing.
/// Main thread.
inline std::optional<int> plain_size(MPI_Datatype type) {
  return type == last_plain_type.type ? last_plain_type.size : find_plain_size(type);
}

/// A datatype that stays valid when the application frees it; or none.
class KeptType {
 public:
  explicit KeptType(MPI_Datatype type) : type_(type), is_owned_(type != MPI_DATATYPE_NULL && !is_of_mpi(type)) {
    if (is_owned_) check_mpi(PMPI_Type_dup(type, &type_), "MPI_Type_dup");
  }
  ~KeptType() {
    if (is_owned_) PMPI_Type_free(&type_);
  }
  KeptType(const KeptType&) = delete;
  KeptType& operator=(const KeptType&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_;
  bool is_owned_;
};

}  // namespace mend
