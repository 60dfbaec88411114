! A Fortran program that derives communicators by MPI itself, with the module that its first argument names: mpi or
! mpi_f08. Rank 3 dies while rank 0 waits for rank 1 in a communicator without rank 3, and rank 1 waits for all. Rank 0
! is only interrupted if mend knows of that communicator. If the first argument is window, the program makes a window;
! if it is finalize, free, disconnect or shrink, it makes this mistake in the body.
! If it is begun, rank 1 dies between steps of calls that do not block. With --mend-world=session, calls name
! MPI_COMM_WORLD; if the first argument is world, all calls do.

module by_mpi
  use mpi
  implicit none
contains
  subroutine derive(whole, last, code)
    integer, intent(in) :: whole
    integer, intent(out) :: last, code
    integer :: rank, pair, line

    last = MPI_COMM_NULL
    call MPI_Comm_rank(whole, rank, code)
    call MPI_Comm_split(whole, rank / 2, rank, pair, code)
    if (code == MPI_SUCCESS) call MPI_Cart_create(pair, 1, [2], [.false.], .false., line, code)
    if (code == MPI_SUCCESS) call MPI_Comm_dup(line, last, code)
  end subroutine
end module

module by_mpi_f08
  use mpi_f08
  implicit none
contains
  subroutine derive_f08(whole_value, last_value, code)
    integer, intent(in) :: whole_value
    integer, intent(out) :: last_value, code
    type(MPI_Comm) :: whole, pair, line, last
    integer :: rank

    whole%MPI_VAL = whole_value
    last = MPI_COMM_NULL
    call MPI_Comm_rank(whole, rank, code)
    call MPI_Comm_split(whole, rank / 2, rank, pair, code)
    if (code == MPI_SUCCESS) call MPI_Cart_create(pair, 1, [2], [.false.], .false., line, code)
    if (code == MPI_SUCCESS) call MPI_Comm_dup(line, last, code)
    last_value = last%MPI_VAL
  end subroutine
end module

module deriving
  use, intrinsic :: iso_c_binding
  use mend
  use mpi
  use by_mpi, only: derive
  use by_mpi_f08, only: derive_f08
  implicit none

  logical, save :: f08 = .false.
  logical, save :: window = .false.
  character(len=24), save :: mistake = ""
  logical, save :: in_world = .false.

  interface
    integer(c_int) function raise(signal) bind(C)
      import :: c_int
      integer(c_int), value :: signal
    end function
  end interface

contains

  integer(c_int) function body(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data
    integer(c_int), parameter :: sigkill = 9
    integer(c_int) :: ignored
    integer :: whole, last, rank, code, heard, made
    integer, save :: shared(1) = 0
    external :: mpix_comm_shrink

    status = MEND_FAILURE
    if (c_associated(data)) return
    whole = mend_comm_fortran(session)
    if (in_world) whole = MPI_COMM_WORLD
    rank = mend_rank(session)
    if (mistake == "finalize") call MPI_Finalize(code)
    if (mistake == "free") call MPI_Comm_free(whole, code)
    if (mistake == "disconnect") call MPI_Comm_disconnect(whole, code)
    if (mistake == "shrink") call mpix_comm_shrink(whole, made, code)
    if (mistake /= "") return
    if (window) then
      call MPI_Win_create(shared, 4_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, whole, made, code)
      return
    end if
    if (f08) then
      call derive_f08(whole, last, code)
    else
      call derive(whole, last, code)
    end if
    if (code == MPI_SUCCESS) call MPI_Barrier(whole, code)
    if (code /= MPI_SUCCESS) return
    if (mend_epoch(session) == 0) then
      if (rank == 3) ignored = raise(sigkill)
      if (rank == 0) call MPI_Recv(heard, 1, MPI_INTEGER, 1, 0, last, MPI_STATUS_IGNORE, code)
      if (rank /= 0) call MPI_Barrier(whole, code)
      return
    end if
    heard = -1
    if (mod(rank, 2) == 0) call MPI_Recv(heard, 1, MPI_INTEGER, 1, 0, last, MPI_STATUS_IGNORE, code)
    if (mod(rank, 2) == 1) call MPI_Send(rank, 1, MPI_INTEGER, 0, 0, last, code)
    if (code /= MPI_SUCCESS) return
    print "('rank ', i0, ': heard ', i0, ' in epoch ', i0)", rank, heard, mend_epoch(session)
    status = MEND_SUCCESS
  end function

  integer(c_int) function begun_body(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data
    integer(c_int), parameter :: sigkill = 9
    integer(c_int) :: ignored
    integer :: whole, rank, ranks, left, step, code, message, mine, told, sum, total
    integer :: requests(2)

    status = mend_restore(session)
    if (status /= MEND_SUCCESS .or. c_associated(data)) return
    status = MEND_FAILURE
    whole = mend_comm_fortran(session)
    if (in_world) whole = MPI_COMM_WORLD
    rank = mend_rank(session)
    ranks = mend_size(session)
    left = mod(rank + ranks - 1, ranks)
    total = 0
    do step = 1, 6
      if (rank == 1 .and. step == 4 .and. mend_epoch(session) == 0) ignored = raise(sigkill)
      mine = rank + step
      call MPI_Issend(mine, 1, MPI_INTEGER, mod(rank + 1, ranks), 5, whole, requests(1), code)
      if (code == MPI_SUCCESS) &
        call MPI_Iallreduce(mine, sum, 1, MPI_INTEGER, MPI_SUM, whole, requests(2), code)
      if (code == MPI_SUCCESS) call MPI_Mprobe(left, 5, whole, message, MPI_STATUS_IGNORE, code)
      if (code == MPI_SUCCESS) call MPI_Mrecv(told, 1, MPI_INTEGER, message, MPI_STATUS_IGNORE, code)
      if (code == MPI_SUCCESS) call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, code)
      if (code /= MPI_SUCCESS) return
      total = total + sum + told
    end do
    print "('rank ', i0, ': total ', i0)", rank, total
    status = MEND_SUCCESS
  end function

  ! What the library's wrappers for Fortran do with MPI_COMM_WORLD themselves. Rank 1 dies. The process that is started
  ! for it is alone in MPI_COMM_WORLD.
  integer(c_int) function world_body(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data
    integer(c_int), parameter :: sigkill = 9
    integer(c_int) :: ignored
    integer :: rank, ranks, key, code, i
    integer(MPI_ADDRESS_KIND) :: value
    integer, allocatable :: sent(:), received(:), ones(:), offsets(:), types(:)
    logical :: is_right, has_tags, has_own, keeps_own, is_revoked
    external :: mpix_comm_is_revoked

    status = MEND_FAILURE
    if (c_associated(data)) return
    rank = mend_rank(session)
    ranks = mend_size(session)
    if (rank == 1 .and. mend_epoch(session) == 0) ignored = raise(sigkill)
    sent = [(10 * rank + i, i = 0, ranks - 1)]
    received = [(-1, i = 0, ranks - 1)]
    ones = [(1, i = 0, ranks - 1)]
    offsets = [(4 * i, i = 0, ranks - 1)]
    types = [(MPI_INTEGER, i = 0, ranks - 1)]
    call MPI_Alltoallw(sent, ones, offsets, types, received, ones, offsets, types, MPI_COMM_WORLD, code)
    if (code /= MPI_SUCCESS) return
    is_right = all(received == [(10 * i + rank, i = 0, ranks - 1)])
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, has_tags, code)
    has_tags = has_tags .and. value > 32766
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, code)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 17_MPI_ADDRESS_KIND, code)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, has_own, code)
    has_own = has_own .and. value == 17
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, code)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, keeps_own, code)
    call MPI_Comm_free_keyval(key, code)
    call mpix_comm_is_revoked(MPI_COMM_WORLD, is_revoked, code)
    print "('rank ', i0, ': ', 5l1)", rank, is_right, has_tags, has_own, keeps_own, is_revoked
    status = MEND_SUCCESS
  end function

  ! The library's wrapper for Fortran would write into the request.
  integer(c_int) function arrays_body(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data
    integer :: code, request, mine, i
    integer :: all(2), counts(2), offsets(2)

    status = mend_restore(session)
    if (status /= MEND_SUCCESS .or. c_associated(data)) return
    mine = mend_rank(session)
    counts = 1
    offsets = [(i, i = 0, 1)]
    call MPI_Iallgatherv(mine, 1, MPI_INTEGER, all, counts, offsets, MPI_INTEGER, mend_comm_fortran(session), &
      request, code)
    status = MEND_FAILURE
    if (code == MPI_SUCCESS) call MPI_Wait(request, MPI_STATUS_IGNORE, code)
    if (code == MPI_SUCCESS) status = MEND_SUCCESS
  end function

end module

program fortran_mpi_subject
  use deriving
  implicit none
  character(len=24) :: how
  integer :: i

  do i = 2, command_argument_count()
    call get_command_argument(i, how)
    if (how == "--mend-world=session") in_world = .true.
  end do
  call get_command_argument(1, how)
  f08 = how == "mpi_f08"
  window = how == "window"
  if (how == "finalize" .or. how == "free" .or. how == "disconnect" .or. how == "shrink") mistake = how
  if (how == "begun") call exit(mend_run(begun_body))
  if (how == "arrays") call exit(mend_run(arrays_body))
  if (how == "world") call exit(mend_run(world_body))
  call exit(mend_run(body))
end program
