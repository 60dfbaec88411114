! A Fortran program that uses mend: counts, as the C subject does, and dies where it is told to. Its first argument says
! how it lives on: "again" enters the body again, "in_place" repairs and goes on.

module counting
  use, intrinsic :: iso_c_binding
  use mend
  implicit none

  integer, parameter :: steps = 10
  integer(c_long), target, save :: step = 0
  real(c_double), target, save :: totals(3) = 0
  integer, save :: repairs = 0
  logical, save :: in_place = .false.

  interface
    ! fortran_subject_mpi.c: MPI_Allreduce, since the MPI library may have no Fortran bindings.
    integer(c_int) function sum_over(comm, mine, sum) bind(C)
      import :: c_int, c_ptr, c_double
      type(c_ptr), value :: comm
      real(c_double), value :: mine
      real(c_double), intent(out) :: sum
    end function
    integer(c_int) function raise(signal) bind(C)
      import :: c_int
      integer(c_int), value :: signal
    end function
  end interface

contains

  integer(c_int) function one_step(session) result(status)
    type(c_ptr), value :: session
    integer(c_int), parameter :: sigkill = 9
    real(c_double) :: sum
    integer(c_int) :: ignored, epoch, rank
    logical :: due

    epoch = mend_epoch(session)
    rank = mend_rank(session)
    if (step == 5 .and. epoch == 0 .and. rank == 1) ignored = raise(sigkill)
    if (sum_over(mend_comm(session), real(step + rank, c_double), sum) /= 0) then
      status = MEND_FAILURE
      return
    end if
    totals = totals + sum * [1, 2, 3]
    step = step + 1
    status = mend_commit_due(session, due)
    if (status == MEND_SUCCESS .and. due) status = mend_commit(session)
  end function

  integer(c_int) function count_repair(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data

    repairs = repairs + 1
    status = merge(MEND_SUCCESS, MEND_ERROR, c_associated(session) .and. .not. c_associated(data))
  end function

  integer(c_int) function add_one_unless_rank_1(session, data) bind(C) result(went_well)
    type(c_ptr), value :: session, data

    totals = totals + 1
    went_well = merge(0_c_int, 1_c_int, c_associated(data))
    if (mend_rank(session) == 1) went_well = 0
  end function

  integer(c_int) function body(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data
    logical :: flag, committed
    character(len=120) :: line, outcome

    step = 0
    totals = 0
    status = mend_protect(session, "step", c_loc(step), c_sizeof(step))
    if (status == MEND_SUCCESS) status = mend_protect(session, "totals", c_loc(totals), c_sizeof(totals), "replicas:2")
    if (status == MEND_SUCCESS) status = mend_on_repair(session, count_repair)
    if (status == MEND_SUCCESS) status = mend_restore(session)
    do while (step < steps)
      if (status == MEND_SUCCESS) status = one_step(session)
      if (status == MEND_FAILURE .and. in_place) then
        status = mend_repair(session)
        if (status == MEND_SUCCESS) status = mend_restore_others(session)
      else if (status /= MEND_SUCCESS) then
        return
      end if
    end do
    flag = .not. c_associated(data)
    status = mend_agree(session, flag)
    if (status == MEND_SUCCESS) status = mend_transaction(session, add_one_unless_rank_1, committed)
    if (status /= MEND_SUCCESS) return
    write (line, "('rank ', i0, ': totals ', 3(f0.1, ' '), 'after ', i0, ' steps in epoch ', i0)") &
      mend_rank(session), totals, step, mend_epoch(session)
    write (outcome, "(', ', i0, ' repairs, ', a, ', ', a)") repairs, merge("agreed    ", "not agreed", flag), &
      merge("committed ", "taken back", committed)
    print "(a)", trim(line) // outcome
  end function

  integer(c_int) function wrong_body(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data

    status = mend_protect(session, "", data, 0_c_size_t)
    if (mend_error_text() /= "a protected member needs a name") status = MEND_SUCCESS
  end function

end module

program fortran_subject
  use counting
  implicit none
  character(len=16) :: how
  integer :: code

  call get_command_argument(1, how)
  in_place = how == "in_place"
  if (how == "wrong") then
    code = mend_run(wrong_body)
  else
    code = mend_run(body)
  end if
  call exit(code)
end program
