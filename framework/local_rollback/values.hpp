// Values of an MPI datatype in memory.

#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

namespace mend {

/// How a type was made (MPI_Type_get_envelope). For no type: the initial values.
struct TypeEnvelope {
  int integers = 0;
  int addresses = 0;
  int types = 0;  ///< 0 for MPI's own types, and for those of MPI_Type_create_f90_real and the like
  int combiner = MPI_UNDEFINED;
};
TypeEnvelope envelope_of(MPI_Datatype type);

/// 0 for no type, which calls refuse.
inline MPI_Aint extent_of(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return 0;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(type, &lower, &extent);
  return extent;
}

/// The size of one value, without gaps in it. Returns MPI's code. The function has another name from MPI 4.1 on.
inline int size_of_type(MPI_Datatype type, MPI_Count& size) {
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  return PMPI_Type_size_c(type, &size);
#else
  return PMPI_Type_size_x(type, &size);
#endif
}

/// Returns the number of bytes of `count` values, without gaps between them.
inline long long bytes_of(int count, MPI_Datatype type) {
  MPI_Count size = 0;
  size_of_type(type, size);
  return static_cast<long long>(count) * size;
}

inline const void* at(const void* data, MPI_Aint index, MPI_Datatype type) {
  return static_cast<const std::byte*>(data) + index * extent_of(type);
}
inline void* at(void* data, MPI_Aint index, MPI_Datatype type) {
  return static_cast<std::byte*>(data) + index * extent_of(type);
}

/// Returns true if values of this type, which is made of no others, have bytes without a meaning: the x87's long double
/// has 10 bytes of 16. Local.
bool has_unused_bytes(MPI_Datatype type);
/// Clears these bytes of packed values of `type`, whatever it is made of. Main thread. Local.
void clear_unused(std::span<std::byte> packed, MPI_Datatype type);

/// Copies values between two datatypes. Returns MPI's error code.
int copy(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count, MPI_Datatype to_type);

/// Returns MPI's code if it refuses such a reduction. Collective calls ask before they send anything. Local.
int check_reduction(int count, MPI_Datatype type, MPI_Op op);

}  // namespace mend
