! Adds up the steps of all ranks, with the module mpi_f08; `count kill` loses rank 1 at step 5.

module counting
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use mend
  use mend_f08
  implicit none

  integer(c_long), target, save :: step = 0, total = 0
  logical, save :: kill_one = .false.

  interface
    integer(c_int) function raise(signal) bind(C)
      import :: c_int
      integer(c_int), value :: signal
    end function
  end interface

contains

  integer(c_int) function body(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data
    integer(c_long) :: mine, sum
    integer(c_int) :: ignored
    integer :: error

    step = 0
    total = 0
    status = mend_protect(session, "step", c_loc(step), c_sizeof(step))
    if (status == MEND_SUCCESS) status = mend_protect(session, "total", c_loc(total), c_sizeof(total))
    if (status == MEND_SUCCESS .and. c_associated(data)) status = MEND_ERROR
    if (status == MEND_SUCCESS) status = mend_restore(session)
    do while (status == MEND_SUCCESS .and. step < 10)
      if (kill_one .and. mend_epoch(session) == 0 .and. mend_rank(session) == 1 .and. step == 5) ignored = raise(9_c_int)
      mine = step + mend_rank(session)
      call MPI_Allreduce(mine, sum, 1, MPI_INTEGER8, MPI_SUM, mend_comm_f08(session), error)
      if (error /= MPI_SUCCESS) then
        status = MEND_FAILURE
        return
      end if
      total = total + sum
      step = step + 1
      status = mend_commit(session)
    end do
    if (status == MEND_SUCCESS .and. mend_rank(session) == 0) print "('epoch ', i0, ', total ', i0)", mend_epoch(session), total
  end function

end module

program count
  use counting
  implicit none
  character(len=8) :: argument

  call get_command_argument(1, argument)
  kill_one = argument == "kill"
  call exit(int(mend_run(body)))
end program
