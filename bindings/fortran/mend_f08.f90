! Converts communicators of the module mend for mpi_f08. Needs the module mpi_f08 of the MPI library.
!
!     use mpi_f08
!     use mend
!     use mend_f08
!     ...
!     call MPI_Allreduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, mend_comm_f08(session), error)

module mend_f08
  use, intrinsic :: iso_c_binding
  use mpi_f08, only: MPI_Comm
  use mend
  implicit none
  private

  public :: mend_comm_f08, mend_comm_f08_of

contains

  ! Returns the session's communicator for mpi_f08. Valid until the body returns or repairs. Local.
  type(MPI_Comm) function mend_comm_f08(session)
    type(c_ptr), intent(in) :: session

    mend_comm_f08%MPI_VAL = int(mend_comm_fortran(session))
  end function

  ! Returns for mpi_f08 a communicator that mend_comm_dup, mend_comm_split, mend_comm_cart or mend_comm_derive has made.
  ! Local.
  type(MPI_Comm) function mend_comm_f08_of(made)
    type(c_ptr), intent(in) :: made

    mend_comm_f08_of%MPI_VAL = int(mend_comm_c2f(made))
  end function

end module
