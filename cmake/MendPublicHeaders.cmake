# What users include; everything else is internal and is not installed. tests/headers compiles each of them alone.

set(MEND_PUBLIC_HEADERS
  base/clock.hpp
  base/error.hpp
  base/ids.hpp
  framework/mend.hpp
  framework/options.hpp
  framework/recovery_report.hpp
  framework/run.hpp
  framework/session.hpp
  spares/replacement.hpp
  store/array_part.hpp
  store/kokkos.hpp
  store/member.hpp
  store/redundancy.hpp
  store/staging.hpp
  store/store.hpp
  transport/requests.hpp)
set(MEND_PUBLIC_C_HEADERS
  bindings/c/mend.h
  fenix/fenix.h)
set(MEND_FORTRAN_SOURCES
  bindings/fortran/mend.f90
  bindings/fortran/mend_f08.f90)
