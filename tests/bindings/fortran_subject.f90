! A Fortran program that uses mend: counts, as the C subject does, and dies where it is told to. Its first argument is
! the way it survives: "again" enters the body again, "in_place" repairs and goes on, "async" does not wait for its
! commits; "file" has its state in files in memory; "double_buffer" replaces what it protects; "older" goes back to a
! version and takes over a neighbour's; "parts" goes on with fewer ranks, and "numbers" reports their numbers.

module counting
  use, intrinsic :: iso_c_binding
  use mend
  implicit none

  integer, parameter :: steps = 10
  integer(c_long), target, save :: step = 0
  real(c_double), target, save :: totals(3) = 0
  integer, save :: repairs = 0
  logical, save :: in_place = .false., async = .false.

  ! A table of which every rank has some rows. Neighbours in memory are not neighbours in the table.
  integer, parameter :: rows = 12, columns = 4
  real(c_double), allocatable, target, save :: table(:, :)
  integer(c_int), target, save :: table_step = 0

  interface
    ! fortran_subject_mpi.c: MPI_Allreduce, because the MPI library may have no Fortran bindings.
    integer(c_int) function sum_over(comm, mine, sum) bind(C)
      import :: c_int, c_ptr, c_double
      type(c_ptr), value :: comm
      real(c_double), value :: mine
      real(c_double), intent(out) :: sum
    end function
    integer(c_int) function sum_of_ranks(comm) bind(C)
      import :: c_int
      integer(c_int), value :: comm
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
    if (status /= MEND_SUCCESS .or. .not. due) return
    if (async) then
      status = mend_commit_async(session)
    else
      status = mend_commit(session)
    end if
  end function

  integer(c_int) function leaving_body(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data
    integer(c_int), parameter :: sigterm = 15
    integer(c_int) :: ignored, rank

    if (c_associated(data)) continue
    step = 0
    rank = mend_rank(session)
    status = mend_protect(session, "step", c_loc(step), c_sizeof(step))
    if (status == MEND_SUCCESS) status = mend_restore(session)
    do while (status == MEND_SUCCESS)
      if (mend_should_exit(session)) exit
      if (step == 3 .and. rank == 1) ignored = raise(sigterm)
      step = step + 1
      status = mend_commit(session)
    end do
    print '(a, i0, a)', "rank ", rank, ": left"
    flush (6)
  end function

  integer(c_int) function async_body(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data
    integer(c_long) :: from, to

    step = 0
    totals = 0
    status = mend_protect(session, "step", c_loc(step), c_sizeof(step))
    if (status == MEND_SUCCESS) status = mend_protect(session, "totals", c_loc(totals), c_sizeof(totals))
    if (status == MEND_SUCCESS) status = mend_restore(session, from)
    do while (step < steps .and. status == MEND_SUCCESS)
      status = one_step(session)
    end do
    if (status == MEND_SUCCESS) status = mend_finish_commit(session, to)
    if (status == MEND_SUCCESS) status = mend_report_number(session, "steps", real(step, c_double))
    if (status == MEND_SUCCESS) status = mend_report_text(session, "language", "Fortran")
    if (status == MEND_SUCCESS) status = mend_report_hash(session, c_loc(totals), c_sizeof(totals))
    if (status == MEND_SUCCESS .and. c_associated(data)) status = MEND_ERROR
    if (status /= MEND_SUCCESS) return
    print "('rank ', i0, ': total ', f0.1, ' after ', i0, ' steps in epoch ', i0, ', from version ', i0, ' to ', i0)", &
      mend_rank(session), totals(1), step, mend_epoch(session), from, to
  end function

  integer(c_int) function die_on_rank_1(session) result(status)
    type(c_ptr), value :: session
    integer(c_int), parameter :: sigkill = 9
    real(c_double) :: sum
    integer(c_int) :: ignored

    if (mend_rank(session) == 1) ignored = raise(sigkill)
    status = merge(MEND_ERROR, MEND_FAILURE, sum_over(mend_comm(session), 1.0_c_double, sum) == 0)
  end function

  subroutine look_at_what_has_been(session, known)
    type(c_ptr), value :: session
    logical, intent(out) :: known
    type(mend_recovery) :: recovery
    type(mend_store_statistics) :: statistics
    integer(c_int) :: rank, dead, newcomer, role, got(8)
    integer(c_long) :: versions(2)

    rank = -1
    dead = -1
    newcomer = -1
    versions = 0
    recovery%dead = 0
    call mend_statistics(session, statistics)
    role = merge(MEND_ROLE_NEWCOMER, MEND_ROLE_SURVIVOR, mend_rank(session) == 1)
    got(1) = mend_recovery_count(session)
    got(2) = mend_recovery_get(session, 0_c_int, recovery)
    got(3) = mend_recovery_dead(session, 0_c_int, 0_c_int)
    got(4) = mend_recovery_rank(session, 0_c_int, 0_c_int, rank, dead, newcomer)
    got(5) = mend_restored_from(session)
    got(6) = mend_versions_in_memory(session, versions, 2_c_int)
    got(7) = mend_versions_on_disk(session, versions, 2_c_int)
    got(8) = mend_role(session)
    known = all(got == [1_c_int, MEND_SUCCESS, 1_c_int, MEND_SUCCESS, MEND_ORIGIN_MEMORY, 1_c_int, 0_c_int, role]) .and. &
      recovery%epoch == 1 .and. recovery%dead == 1 .and. recovery%replaced == 1 .and. recovery%rebuild_ms > 0 .and. &
      rank == 1 .and. dead == 1 .and. newcomer == 4 .and. versions(1) == 1 .and. statistics%restores == 2 .and. &
      statistics%snapshot_bytes > 0
  end subroutine

  integer(c_int) function older_body(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data
    integer(c_long) :: version, older, neighbours
    real(c_double) :: own
    logical :: known

    status = mend_protect(session, "totals", c_loc(totals), c_sizeof(totals))
    if (mend_epoch(session) == 0) then
      if (mend_role(session) /= MEND_ROLE_INITIAL) status = MEND_END
      do version = 1, 2
        totals = 10 * version + mend_rank(session)
        if (status == MEND_SUCCESS) status = mend_commit(session)
      end do
      if (status == MEND_SUCCESS) status = die_on_rank_1(session)
      return
    end if
    if (status == MEND_SUCCESS) status = mend_restore_version(session, 1_c_long, older)
    own = totals(1)
    if (status == MEND_SUCCESS) status = mend_restore_from(session, mod(mend_rank(session) + 1, mend_size(session)), neighbours)
    if (status == MEND_SUCCESS .and. c_associated(data)) status = MEND_ERROR
    call look_at_what_has_been(session, known)
    if (status == MEND_SUCCESS .and. .not. known) status = mend_unprotect(session, "what is not there")
    if (status == MEND_SUCCESS) status = mend_unprotect(session, "totals")
    if (status == MEND_SUCCESS) status = mend_finish_disk(session)
    if (status /= MEND_SUCCESS) return
    print "('rank ', i0, ': ', f0.1, ' of version ', i0, ', beside ', f0.1, ' of version ', i0)", mend_rank(session), own, &
      older, totals(1), neighbours
  end function

  ! Two buffers take turns: one as a part of an array, one as plain bytes. Rank 1 dies when the second is protected.
  integer(c_int) function double_buffer_body(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data
    real(c_double), target, save :: u(3, 2)
    integer(c_long), target, save :: sums(2)
    integer(c_size_t) :: whole(1), offset(1)
    integer(c_int) :: epoch
    integer :: now, next

    epoch = mend_epoch(session)
    whole = 3 * mend_size(session)
    offset = 3 * mend_rank(session)
    step = 0
    sums = 0
    now = 1
    u(:, 1) = mend_rank(session)
    status = mend_protect(session, "step", c_loc(step), c_sizeof(step))
    if (status == MEND_SUCCESS) status = mend_protect(session, "sum", c_loc(sums(1)), c_sizeof(sums(1)), "replicas:2")
    if (status == MEND_SUCCESS) &
      status = mend_protect_part(session, "u", c_loc(u(1, 1)), "float64", whole, offset, [3_c_size_t])
    if (mend_replace(session, "nothing", c_loc(step), c_sizeof(step)) /= MEND_ERROR) status = MEND_END
    if (index(mend_error_text(), "there is no protected member 'nothing'") /= 1) status = MEND_END
    if (mend_rollback(session) /= MEND_ROLLBACK_ALL) status = MEND_END
    if (status == MEND_SUCCESS) status = mend_restore(session)
    do while (status == MEND_SUCCESS .and. step < steps)
      next = 3 - now
      u(:, next) = u(:, now) + 1
      sums(next) = sums(now) + 2
      u(:, now) = -1
      sums(now) = -1
      now = next
      step = step + 1
      status = mend_replace(session, "sum", c_loc(sums(now)), c_sizeof(sums(now)))
      if (status == MEND_SUCCESS) &
        status = mend_replace_part(session, "u", c_loc(u(1, now)), "float64", whole, offset, [3_c_size_t])
      if (status == MEND_SUCCESS .and. step == 6 .and. epoch == 0) then
        status = die_on_rank_1(session)
        return
      end if
      if (status == MEND_SUCCESS) status = mend_commit(session)
    end do
    if (status == MEND_SUCCESS) status = mend_report_integer(session, "steps", step)
    if (status == MEND_SUCCESS .and. c_associated(data)) status = MEND_ERROR
    if (status /= MEND_SUCCESS) return
    print "('rank ', i0, ':', 3(' ', i0), ' and ', i0, ' after ', i0, ' steps')", mend_rank(session), int(u(:, now)), &
      sums(now), step
  end function

  ! The state is only in restart files in memory, as OPEN makes them: records, a stream, and text opened by its path.
  ! Rank 1 dies while all ranks are writing them.
  integer(c_int) function file_body(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data
    integer :: unit, done, first, i
    integer(c_size_t) :: bytes
    integer(c_int) :: epoch, rank
    real(c_double) :: values(3), again(3)
    character(len=:), allocatable :: path
    logical :: exists

    epoch = mend_epoch(session)
    rank = mend_rank(session)
    done = 0
    values = 0
    status = mend_protect_file(session, "records", "replicas:2")
    if (status == MEND_SUCCESS) status = mend_protect_file(session, "stream")
    if (status == MEND_SUCCESS) status = mend_file_path(session, "text", path)
    if (epoch == 0 .and. status == MEND_SUCCESS) then
      if (mend_file_exists(session, "records")) status = MEND_END
      if (mend_file_open(session, "records", "r", unit) /= MEND_ERROR) status = MEND_END
      if (index(mend_error_text(), "file 'records' cannot be read") /= 1) status = MEND_END
    end if
    if (status == MEND_SUCCESS) status = mend_restore(session)
    exists = mend_file_exists(session, "records")
    if (status == MEND_SUCCESS .and. exists) then
      if (mend_file_open(session, "records", "r", unit, form="binary") /= MEND_ERROR .or. unit /= -1) status = MEND_END
      if (index(mend_error_text(), "file 'records' cannot be opened: ") /= 1) status = MEND_END
      if (status == MEND_SUCCESS) status = mend_file_open(session, "records", "r", unit)
      read(unit) done
      read(unit) values
      close(unit)
      if (status == MEND_SUCCESS) status = mend_file_open(session, "stream", "r", unit, access="stream")
      do i = 1, done
        read(unit) again
      end do
      close(unit)
      if (any(abs(again - values) > 0)) status = MEND_END
      open(newunit=unit, file=path, status="old", action="read", form="formatted")
      read(unit, *) i
      close(unit)
      if (i /= done) status = MEND_END
    end if
    first = done
    do while (status == MEND_SUCCESS .and. done < steps)
      values = values + (10 * done + rank) * [1, 2, 3]
      done = done + 1
      status = mend_file_open(session, "records", "w", unit)
      write(unit) done
      if (done == 5 .and. epoch == 0 .and. status == MEND_SUCCESS) then
        status = die_on_rank_1(session)
        return
      end if
      write(unit) values
      close(unit)
      if (status == MEND_SUCCESS) status = mend_file_size(session, "records", bytes)
      if (bytes < c_sizeof(done) + c_sizeof(values)) status = MEND_END
      if (status == MEND_SUCCESS) status = mend_file_open(session, "stream", "a", unit, access="stream")
      write(unit) values
      close(unit)
      open(newunit=unit, file=path, status="old", action="write", form="formatted")
      write(unit, "(i0)") done
      close(unit)
      if (status == MEND_SUCCESS) status = mend_commit(session)
    end do
    if (status == MEND_SUCCESS .and. c_associated(data)) status = MEND_ERROR
    if (status /= MEND_SUCCESS) return
    print "('rank ', i0, ': values', 3(' ', f0.1), ' after ', i0, ' steps, of which ', i0, ' are new')", rank, values, done, &
      done - first
  end function

  real(c_double) function at(row, column, after)
    integer, intent(in) :: row, column
    integer(c_int), intent(in) :: after

    at = 100 * row + column + 1000 * after
  end function

  integer(c_int) function parts_body(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data
    integer :: i, j, mine, first, wrong
    integer(c_int) :: epoch
    integer(c_long) :: version

    epoch = mend_epoch(session)
    mine = rows / mend_size(session)
    first = mine * mend_rank(session) + 1
    if (allocated(table)) deallocate(table)
    allocate(table(first:first + mine - 1, columns))
    do j = 1, columns
      do i = first, first + mine - 1
        table(i, j) = at(i, j, 0_c_int)
      end do
    end do
    table_step = 0
    status = mend_protect_part(session, "table", c_loc(table), "float64", [int(rows, c_size_t), int(columns, c_size_t)], &
      [int(first - 1, c_size_t), 0_c_size_t], int(shape(table), c_size_t))
    if (status == MEND_SUCCESS) status = mend_protect_replicated(session, "step", c_loc(table_step), "int32", 1_c_size_t, &
      "replicas:2")
    if (status == MEND_SUCCESS) status = mend_restore(session, version)
    do while (status == MEND_SUCCESS .and. table_step < 6)
      table = table + 1000
      table_step = table_step + 1_c_int
      status = mend_commit(session)
      if (status == MEND_SUCCESS .and. table_step == 3 .and. epoch == 0) status = die_on_rank_1(session)
    end do
    if (status == MEND_SUCCESS .and. c_associated(data)) status = MEND_ERROR
    if (status /= MEND_SUCCESS) return
    wrong = 0
    do j = 1, columns
      do i = first, first + mine - 1
        if (nint(table(i, j)) /= nint(at(i, j, table_step))) wrong = wrong + 1
      end do
    end do
    print "('rank ', i0, ': rows ', i0, ' to ', i0, ' after ', i0, ' steps, from version ', i0, ', ', i0, ' wrong')", &
      mend_rank(session), first, first + mine - 1, table_step, version, wrong
  end function

  integer(c_int) function numbers_body(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data
    type(c_ptr) :: ring, half
    integer(c_int) :: rank

    status = MEND_SUCCESS
    if (mend_epoch(session) == 0) status = die_on_rank_1(session)
    if (status == MEND_SUCCESS) status = merge(MEND_SUCCESS, MEND_ERROR, mend_original_size(session) == 4)
    rank = mend_rank(session)
    if (status == MEND_SUCCESS) status = mend_comm_cart(session, [3_c_int], [.true.], ring)
    if (status == MEND_SUCCESS) status = mend_comm_split(session, mod(rank, 3_c_int) / 2, 0_c_int, half)
    if (status == MEND_SUCCESS .and. c_associated(data)) status = MEND_ERROR
    if (status /= MEND_SUCCESS) return
    print "('rank ', i0, ': ', i0, ' in comm, was ', i0, ', ', a, ' rank 1, sums ', i0, ' and ', i0, ', after ', i0)", rank, &
      mend_rank_in_comm(session, mend_origin(session, rank)), mend_origin(session, rank), &
      trim(merge("no", "a ", mend_rank_in_comm(session, 1) < 0)), &
      sum_of_ranks(mend_comm_c2f(ring)), sum_of_ranks(mend_comm_c2f(half)), mend_predecessors(session)
  end function

  ! The first two and the last two of six values are protected; the communicator is made by a factory.
  integer(c_int) function subset_body(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data
    real(c_double), target, save :: values(6)
    type(c_ptr) :: made
    integer :: i

    values = [(10 * mend_rank(session) + i, i = 1, 6)]
    status = mend_protect_subset(session, "ends", c_loc(values), c_sizeof(values(1)), [1_c_size_t, 5_c_size_t], &
      [2_c_size_t, 6_c_size_t])
    if (status == MEND_SUCCESS) status = mend_commit(session)
    values = -1
    if (status == MEND_SUCCESS) status = mend_restore(session)
    if (status == MEND_SUCCESS) status = mend_comm_derive(session, duplicate, made)
    if (status == MEND_SUCCESS .and. c_associated(data)) status = MEND_ERROR
    if (status /= MEND_SUCCESS) return
    print "('rank ', i0, ':', 6(' ', i0), ' of version ', i0, ' in process ', i0, ', sum ', i0)", mend_rank(session), int(values), &
      mend_version(session), mend_process(session), sum_of_ranks(mend_comm_c2f(made))
  end function

  integer(c_int) function duplicate(parent, made, data) bind(C) result(code)
    type(c_ptr), value :: parent, data
    type(c_ptr), intent(out) :: made
    interface
      integer(c_int) function comm_dup(comm, newcomm) bind(C, name="MPI_Comm_dup")
        import :: c_int, c_ptr
        type(c_ptr), value :: comm
        type(c_ptr), intent(out) :: newcomm
      end function
    end interface

    code = comm_dup(parent, made)
    if (c_associated(data)) code = 1
  end function

  integer(c_int) function no_axes_body(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data
    type(c_ptr) :: ring

    status = mend_comm_cart(session, [4_c_int], [logical ::], ring)
    if (c_associated(data)) status = MEND_ERROR
  end function

  integer(c_int) function wrong_parts_body(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data

    status = mend_protect_part(session, "table", data, "float64", [2_c_size_t, 2_c_size_t], [0_c_size_t], [2_c_size_t, 2_c_size_t])
  end function

  integer(c_int) function count_repair(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data

    repairs = repairs + 1
    status = merge(MEND_SUCCESS, MEND_ERROR, c_associated(session) .and. .not. c_associated(data))
  end function

  integer(c_int) function add_one_unless_rank_1(session, data, well) bind(C) result(status)
    type(c_ptr), value :: session, data
    integer(c_int), intent(inout) :: well

    totals = totals + 1
    status = merge(MEND_ERROR, MEND_SUCCESS, c_associated(data))
    if (mend_rank(session) == 1) well = 0
  end function

  integer(c_int) function body(session, data) bind(C) result(status)
    type(c_ptr), value :: session, data
    logical :: flag, of_all_but_one, committed
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
    of_all_but_one = mend_rank(session) /= 2
    if (status == MEND_SUCCESS) status = mend_agree(session, of_all_but_one)
    if (of_all_but_one .neqv. mend_size(session) < 3) status = MEND_ERROR
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
  async = how == "async"
  select case (how)
  case ("wrong")
    code = mend_run(wrong_body)
  case ("async")
    code = mend_run(async_body)
  case ("leaves")
    code = mend_run(leaving_body)
  case ("older")
    code = mend_run(older_body)
  case ("parts")
    code = mend_run(parts_body)
  case ("numbers")
    code = mend_run(numbers_body)
  case ("subset")
    code = mend_run(subset_body)
  case ("double_buffer")
    code = mend_run(double_buffer_body)
  case ("file")
    code = mend_run(file_body)
  case ("refused")
    code = mend_refuse("there is no input")
  case ("no_axes")
    code = mend_run(no_axes_body)
  case ("wrong_parts")
    code = mend_run(wrong_parts_body)
  case default
    code = mend_run(body)
  end select
  call exit(code)
end program
