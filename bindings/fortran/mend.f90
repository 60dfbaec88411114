! mend for Fortran 2008: the functions of mend.h, under the same names. Compile this file with the program, and link
! mend::mend; MPI's own Fortran bindings are not needed.
!
!     integer(c_int) function body(session, data) bind(C) result(status)
!       type(c_ptr), value :: session, data
!       status = mend_protect(session, "step", c_loc(step), c_sizeof(step))      ! step: target, in a module or saved
!       status = mend_restore(session)
!       do while (step < 1000 .and. status == MEND_SUCCESS)
!         status = advance(mend_comm_fortran(session), step)                     ! MPI, whose errors are returned
!         ...
!       end do
!     end function                                                               ! MEND_FAILURE: it is entered again
!
!     program main
!       call exit(mend_run(body))
!     end program
!
! The communicator is mend_comm_fortran(session) with `use mpi`, and mend_comm_f08(session), of mend_f08.f90, with
! `use mpi_f08`; mend_comm(session) is the MPI_Comm of C.
!
! mend.h, session.hpp and store.hpp describe the functions in full. One difference: in Fortran, a call of
! mend_error_text alone counts as a look at an error of MPI; calls of MPI_Error_class and MPI_Error_string do not.

module mend
  use, intrinsic :: iso_c_binding
  implicit none
  private

  integer(c_int), parameter, public :: MEND_SUCCESS = 0, MEND_FAILURE = 1, MEND_END = 2, MEND_ERROR = 3
  integer(c_int), parameter, public :: MEND_ROLE_INITIAL = 0, MEND_ROLE_SURVIVOR = 1, MEND_ROLE_NEWCOMER = 2

  integer(c_int), parameter, public :: MEND_ROLLBACK_ALL = 0, MEND_ROLLBACK_LOCAL = 1
  integer(c_int), parameter, public :: MEND_EXIT_OK = 0, MEND_EXIT_FAILED = 1, MEND_EXIT_USAGE = 2, &
    MEND_EXIT_UNRECOVERABLE = 3, MEND_EXIT_LEFT_IN_TIME = 4

  public :: mend_body, mend_work, mend_factory, mend_run, mend_refuse
  public :: mend_comm, mend_comm_fortran, mend_rank, mend_size, mend_epoch, mend_role
  public :: mend_rank_in_comm, mend_origin, mend_original_size, mend_process, mend_predecessors, mend_rollback
  public :: mend_comm_dup, mend_comm_split, mend_comm_cart, mend_comm_derive, mend_comm_c2f
  public :: mend_comm_f2c
  public :: mend_protect, mend_protect_part, mend_protect_subset, mend_protect_replicated
  public :: mend_replace, mend_replace_part
  public :: mend_protect_file, mend_file_open, mend_file_path, mend_file_exists, mend_file_size
  public :: mend_commit, mend_commit_async, mend_finish_commit, mend_commit_due, mend_should_exit
  public :: mend_restore, mend_restore_version, mend_restore_from, mend_restore_others
  public :: mend_agree, mend_check, mend_repair, mend_on_repair, mend_transaction
  public :: mend_report_number, mend_report_integer, mend_report_text, mend_report_hash
  public :: mend_unprotect, mend_finish_disk, mend_restored_from, mend_version
  public :: mend_versions_in_memory, mend_versions_on_disk
  public :: mend_store_statistics, mend_statistics
  public :: mend_recovery, mend_recovery_count, mend_recovery_get, mend_recovery_dead, mend_recovery_rank
  public :: mend_error_text

  integer(c_int), parameter, public :: MEND_ORIGIN_NOWHERE = 0, MEND_ORIGIN_MEMORY = 1, MEND_ORIGIN_DISK = 2

  ! Sizes are in bytes; times are sums in seconds.
  type, bind(C) :: mend_store_statistics
    integer(c_long) :: commits, restores, snapshot_bytes, changed_bytes, memory_bytes
    real(c_double) :: commit_seconds, restore_seconds
  end type

  ! One recovery, with times as this process saw them, in milliseconds.
  type, bind(C) :: mend_recovery
    integer(c_int) :: epoch, rounds, dead, replaced, given_up
    real(c_double) :: interrupt_ms, agree_ms, rebuild_ms, restore_ms
  end type

  abstract interface
    ! The work of mend_transaction. Returns MEND_SUCCESS if it was done. Sets `well` to 0 if the result is not good
    ! here.
    integer(c_int) function mend_work(session, data, well) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: session, data
      integer(c_int), intent(inout) :: well
    end function
    ! Called by mend_comm_derive: makes a communicator of `parent`, an MPI_Comm of C (mend_comm_c2f), and returns the
    ! code of MPI.
    integer(c_int) function mend_factory(parent, made, data) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: parent, data
      type(c_ptr), intent(out) :: made
    end function
    ! A body, or a callback of mend_on_repair.
    integer(c_int) function mend_body(session, data) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: session, data
    end function
  end interface

  interface
    ! The communicator as an MPI_Comm of C, for procedures of C. Valid until the body returns or repairs.
    type(c_ptr) function mend_comm(session) bind(C, name="mend_comm")
      import :: c_ptr
      type(c_ptr), value :: session
    end function
    ! The same for mpi and mpi_f08: an integer, in mpi_f08 comm%MPI_VAL.
    integer(c_int) function mend_comm_fortran(session) bind(C, name="mend_comm_fortran")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function mend_rank(session) bind(C, name="mend_rank")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function mend_size(session) bind(C, name="mend_size")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function mend_epoch(session) bind(C, name="mend_epoch")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function mend_role(session) bind(C, name="mend_role")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function mend_process(session) bind(C, name="mend_process")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_long) function mend_version(session) bind(C, name="mend_version")
      import :: c_long, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function mend_predecessors(session) bind(C, name="mend_predecessors")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    ! Which ranks go back when a process dies: one of MEND_ROLLBACK_...
    integer(c_int) function mend_rollback(session) bind(C, name="mend_rollback")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function mend_original_size(session) bind(C, name="mend_original_size")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    ! Negative (MPI_PROC_NULL) for a rank that was given up or never existed. mend_origin does the same for a rank that
    ! does not exist.
    integer(c_int) function mend_rank_in_comm(session, origin) bind(C, name="mend_rank_in_comm")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      integer(c_int), value :: origin
    end function
    integer(c_int) function mend_origin(session, rank) bind(C, name="mend_origin")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      integer(c_int), value :: rank
    end function
    integer(c_int) function mend_check(session) bind(C, name="mend_check")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function mend_commit_async(session) bind(C, name="mend_commit_async")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function mend_repair(session) bind(C, name="mend_repair")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function mend_comm_dup(session, made) bind(C, name="mend_comm_dup")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      type(c_ptr), intent(out) :: made
    end function
    integer(c_int) function mend_comm_split(session, color, key, made) bind(C, name="mend_comm_split")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      integer(c_int), value :: color, key
      type(c_ptr), intent(out) :: made
    end function
    ! Converts an MPI_Comm of C, as mend_comm_dup makes it, into an integer for mpi, and in mpi_f08 for comm%MPI_VAL.
    integer(c_int) function mend_comm_c2f(comm) bind(C, name="MPI_Comm_c2f")
      import :: c_int, c_ptr
      type(c_ptr), value :: comm
    end function

    ! Converts a communicator of mpi, or comm%MPI_VAL of mpi_f08, into an MPI_Comm of C, as a factory of
    ! mend_comm_derive gives it.
    type(c_ptr) function mend_comm_f2c(comm) bind(C, name="MPI_Comm_f2c")
      import :: c_int, c_ptr
      integer(c_int), value :: comm
    end function

    ! The version is set if the status is MEND_SUCCESS.
    integer(c_int) function mend_commit(session, version) bind(C, name="mend_commit")
      import :: c_int, c_ptr, c_long
      type(c_ptr), value :: session
      integer(c_long), intent(inout), optional :: version
    end function
    integer(c_int) function mend_finish_commit(session, version) bind(C, name="mend_finish_commit")
      import :: c_int, c_ptr, c_long
      type(c_ptr), value :: session
      integer(c_long), intent(inout), optional :: version
    end function
    integer(c_int) function mend_restore(session, version) bind(C, name="mend_restore")
      import :: c_int, c_ptr, c_long
      type(c_ptr), value :: session
      integer(c_long), intent(inout), optional :: version
    end function
    integer(c_int) function mend_restore_version(session, wanted, version) bind(C, name="mend_restore_version")
      import :: c_int, c_ptr, c_long
      type(c_ptr), value :: session
      integer(c_long), value :: wanted
      integer(c_long), intent(inout), optional :: version
    end function
    integer(c_int) function mend_restore_from(session, rank, version) bind(C, name="mend_restore_from")
      import :: c_int, c_ptr, c_long
      type(c_ptr), value :: session
      integer(c_int), value :: rank
      integer(c_long), intent(inout), optional :: version
    end function
    integer(c_int) function mend_restore_others(session, version) bind(C, name="mend_restore_others")
      import :: c_int, c_ptr, c_long
      type(c_ptr), value :: session
      integer(c_long), intent(inout), optional :: version
    end function

    integer(c_int) function mend_finish_disk(session) bind(C, name="mend_finish_disk")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    ! One of MEND_ORIGIN_...
    integer(c_int) function mend_restored_from(session) bind(C, name="mend_restored_from")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    ! Store as many versions as there is room for, newest first. Return the number of all.
    integer(c_int) function mend_versions_in_memory(session, versions, room) bind(C, name="mend_versions_in_memory")
      import :: c_int, c_ptr, c_long
      type(c_ptr), value :: session
      integer(c_long), intent(inout) :: versions(*)
      integer(c_int), value :: room
    end function
    integer(c_int) function mend_versions_on_disk(session, versions, room) bind(C, name="mend_versions_on_disk")
      import :: c_int, c_ptr, c_long
      type(c_ptr), value :: session
      integer(c_long), intent(inout) :: versions(*)
      integer(c_int), value :: room
    end function
    subroutine mend_statistics(session, statistics) bind(C, name="mend_statistics")
      import :: c_ptr, mend_store_statistics
      type(c_ptr), value :: session
      type(mend_store_statistics), intent(out) :: statistics
    end subroutine
    integer(c_int) function mend_recovery_count(session) bind(C, name="mend_recovery_count")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    ! `index` counts from 0, the oldest; `number` from 0. See mend.h.
    integer(c_int) function mend_recovery_get(session, index, recovery) bind(C, name="mend_recovery_get")
      import :: c_int, c_ptr, mend_recovery
      type(c_ptr), value :: session
      integer(c_int), value :: index
      type(mend_recovery), intent(inout) :: recovery
    end function
    integer(c_int) function mend_recovery_dead(session, index, number) bind(C, name="mend_recovery_dead")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      integer(c_int), value :: index, number
    end function
    integer(c_int) function mend_recovery_rank(session, index, number, rank, dead, newcomer) &
        bind(C, name="mend_recovery_rank")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      integer(c_int), value :: index, number
      integer(c_int), intent(inout) :: rank, dead, newcomer
    end function

    ! This rank's part of the answer: c_loc(values), c_sizeof(values).
    integer(c_int) function mend_report_hash(session, part, bytes) bind(C, name="mend_report_hash")
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: session, part
      integer(c_size_t), value :: bytes
    end function

    integer(c_int) function c_comm_cart(session, axes, dims, periods, made) bind(C, name="mend_comm_cart")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      integer(c_int), value :: axes
      integer(c_int), intent(in) :: dims(*), periods(*)
      type(c_ptr), intent(out) :: made
    end function
    integer(c_int) function c_comm_derive(session, factory, data, made) bind(C, name="mend_comm_derive")
      import :: c_int, c_ptr, c_funptr
      type(c_ptr), value :: session, data
      type(c_funptr), value :: factory
      type(c_ptr), intent(out) :: made
    end function
    integer(c_int) function c_protect_subset(session, name, data, element_bytes, ranges, begins, ends, redundancy) &
        bind(C, name="mend_protect_subset")
      import :: c_int, c_ptr, c_char, c_size_t
      type(c_ptr), value :: session, data
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(in), optional :: redundancy(*)
      integer(c_size_t), value :: element_bytes
      integer(c_int), value :: ranges
      integer(c_size_t), intent(in) :: begins(*), ends(*)
    end function
    integer(c_int) function c_refuse(sentence) bind(C, name="mend_refuse")
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: sentence(*)
    end function
    integer(c_int) function c_run(argc, argv, body, data) bind(C, name="mend_run")
      import :: c_int, c_ptr, c_funptr
      integer(c_int), value :: argc
      type(c_ptr), intent(inout) :: argv(*)
      type(c_funptr), value :: body
      type(c_ptr), value :: data
    end function
    integer(c_int) function c_protect(session, name, data, bytes) bind(C, name="mend_protect")
      import :: c_int, c_ptr, c_char, c_size_t
      type(c_ptr), value :: session, data
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function c_protect_with(session, name, data, bytes, redundancy) bind(C, name="mend_protect_with")
      import :: c_int, c_ptr, c_char, c_size_t
      type(c_ptr), value :: session, data
      character(kind=c_char), intent(in) :: name(*), redundancy(*)
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function c_protect_part(session, name, data, element, axes, whole, offset, extents, redundancy) &
        bind(C, name="mend_protect_part")
      import :: c_int, c_ptr, c_char, c_size_t
      type(c_ptr), value :: session, data
      character(kind=c_char), intent(in) :: name(*), element(*)
      character(kind=c_char), intent(in), optional :: redundancy(*)
      integer(c_int), value :: axes
      integer(c_size_t), intent(in) :: whole(*), offset(*), extents(*)
    end function
    integer(c_int) function c_protect_replicated(session, name, data, element, count, redundancy) &
        bind(C, name="mend_protect_replicated")
      import :: c_int, c_ptr, c_char, c_size_t
      type(c_ptr), value :: session, data
      character(kind=c_char), intent(in) :: name(*), element(*)
      character(kind=c_char), intent(in), optional :: redundancy(*)
      integer(c_size_t), value :: count
    end function
    integer(c_int) function c_protect_file(session, name, redundancy) bind(C, name="mend_protect_file")
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(in), optional :: redundancy(*)
    end function
    type(c_ptr) function c_file_open(session, name, mode) bind(C, name="mend_file_open")
      import :: c_ptr, c_char
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*), mode(*)
    end function
    type(c_ptr) function c_file_path(session, name) bind(C, name="mend_file_path")
      import :: c_ptr, c_char
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function c_file_exists(session, name) bind(C, name="mend_file_exists")
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function c_file_size(session, name, bytes) bind(C, name="mend_file_size")
      import :: c_int, c_ptr, c_char, c_size_t
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), intent(out) :: bytes
    end function
    integer(c_int) function c_replace(session, name, data, bytes) bind(C, name="mend_replace")
      import :: c_int, c_ptr, c_char, c_size_t
      type(c_ptr), value :: session, data
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function c_replace_part(session, name, data, element, axes, whole, offset, extents) &
      bind(C, name="mend_replace_part")
      import :: c_int, c_ptr, c_char, c_size_t
      type(c_ptr), value :: session, data
      character(kind=c_char), intent(in) :: name(*), element(*)
      integer(c_int), value :: axes
      integer(c_size_t), intent(in) :: whole(*), offset(*), extents(*)
    end function
    integer(c_int) function c_file_not_opened(name, why) bind(C, name="mend_fortran_file_not_opened")
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: name(*), why(*)
    end function
    integer(c_int) function c_close(file) bind(C, name="fclose")
      import :: c_int, c_ptr
      type(c_ptr), value :: file
    end function
    integer(c_int) function c_commit_due(session, due) bind(C, name="mend_commit_due")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      integer(c_int), intent(out) :: due
    end function
    integer(c_int) function c_should_exit(session) bind(C, name="mend_should_exit")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function c_agree(session, flag) bind(C, name="mend_agree")
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      integer(c_int), intent(inout) :: flag
    end function
    integer(c_int) function c_on_repair(session, callback, data) bind(C, name="mend_on_repair")
      import :: c_int, c_ptr, c_funptr
      type(c_ptr), value :: session, data
      type(c_funptr), value :: callback
    end function
    integer(c_int) function c_transaction(session, work, data, committed) bind(C, name="mend_transaction")
      import :: c_int, c_ptr, c_funptr
      type(c_ptr), value :: session, data
      type(c_funptr), value :: work
      integer(c_int), intent(out) :: committed
    end function
    integer(c_int) function c_unprotect(session, name) bind(C, name="mend_unprotect")
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function c_report_number(session, name, number) bind(C, name="mend_report_number")
      import :: c_int, c_ptr, c_char, c_double
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: number
    end function
    integer(c_int) function c_report_integer(session, name, number) bind(C, name="mend_report_integer")
      import :: c_int, c_ptr, c_char, c_long
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
      integer(c_long), value :: number
    end function
    integer(c_int) function c_report_text(session, name, text) bind(C, name="mend_report_text")
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*), text(*)
    end function
    type(c_ptr) function c_error_text() bind(C, name="mend_error_text")
      import :: c_ptr
    end function
    integer(c_size_t) function c_length(text) bind(C, name="strlen")
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
    end function
  end interface

contains

  ! gfortran treats the name of a dummy procedure with a binding as a global name. A module of the program with that
  ! name, for instance `work` or `body`, would clash with it. So dummy procedures have names that no program uses.

  ! Runs `mend_run_body` on every rank, with the command line of the program. Returns the exit code.
  integer(c_int) function mend_run(mend_run_body, data) result(code)
    procedure(mend_body) :: mend_run_body
    type(c_ptr), intent(in), optional :: data
    character(kind=c_char), allocatable, target :: text(:)
    type(c_ptr), allocatable :: argv(:)
    character(len=:), allocatable :: argument
    integer :: i, j, length, longest, at

    longest = 0
    at = 0
    do i = 0, command_argument_count()
      call get_command_argument(i, length=length)
      longest = max(longest, length)
      at = at + length + 1
    end do
    allocate(character(len=max(longest, 1)) :: argument)
    allocate(text(at), argv(command_argument_count() + 2))
    at = 1
    do i = 0, command_argument_count()
      call get_command_argument(i, argument, length)
      argv(i + 1) = c_loc(text(at))
      do j = 1, length
        text(at + j - 1) = argument(j:j)
      end do
      text(at + length) = c_null_char
      at = at + length + 1
    end do
    argv(size(argv)) = c_null_ptr
    code = c_run(int(command_argument_count() + 1, c_int), argv, c_funloc(mend_run_body), data_or_null(data))
  end function

  ! Ends a program that cannot start: every process calls this instead of mend_run, with the same sentence. Returns the
  ! exit code.
  integer(c_int) function mend_refuse(sentence) result(code)
    character(len=*), intent(in) :: sentence

    code = c_refuse(terminated(sentence))
  end function

  ! Makes any other communicator: `mend_derive_factory` makes it from the session's.
  integer(c_int) function mend_comm_derive(session, mend_derive_factory, made, data) result(status)
    type(c_ptr), intent(in) :: session
    procedure(mend_factory) :: mend_derive_factory
    type(c_ptr), intent(out) :: made
    type(c_ptr), intent(in), optional :: data

    status = c_comm_derive(session, c_funloc(mend_derive_factory), data_or_null(data), made)
  end function

  ! Makes a Cartesian topology. `periods` must be as long as `dims`. Ranks keep their numbers.
  integer(c_int) function mend_comm_cart(session, dims, periods, made) result(status)
    type(c_ptr), intent(in) :: session
    integer(c_int), intent(in) :: dims(:)
    logical, intent(in) :: periods(:)
    type(c_ptr), intent(out) :: made
    integer :: axes

    axes = size(dims)
    if (size(periods) /= axes) axes = 0     ! which is refused
    status = c_comm_cart(session, int(axes, c_int), dims, merge(1_c_int, 0_c_int, periods), made)
  end function

  ! Protects `bytes` bytes at `data`: c_loc(values), c_sizeof(values) of memory that outlives the body. With a
  ! `redundancy` of its own ('xor:4'), or with that of the job. Call it before mend_restore, which fills the data that
  ! is protected then. A name stands for one piece of memory: to give it to another, as a double buffer does, call
  ! mend_replace.
  integer(c_int) function mend_protect(session, name, data, bytes, redundancy) result(status)
    type(c_ptr), intent(in) :: session, data
    character(len=*), intent(in) :: name
    integer(c_size_t), intent(in) :: bytes
    character(len=*), intent(in), optional :: redundancy

    if (present(redundancy)) then
      status = c_protect_with(session, terminated(name), data, bytes, terminated(redundancy))
    else
      status = c_protect(session, terminated(name), data, bytes)
    end if
  end function

  ! Protects this rank's part of an array that all ranks share (see mend.h). `data` are the elements of a box of
  ! `extents`, the first index fastest, after the first `offset` ones along each axis of an array of the extents
  ! `whole`. With integer(c_size_t) :: n, first:
  !     mend_protect_part(session, "u", c_loc(u), "float64", [n, n], [first - 1, 0_c_size_t], int(shape(u), c_size_t))
  integer(c_int) function mend_protect_part(session, name, data, element, whole, offset, extents, redundancy) &
    result(status)
    type(c_ptr), intent(in) :: session, data
    character(len=*), intent(in) :: name, element
    integer(c_size_t), intent(in) :: whole(:), offset(:), extents(:)
    character(len=*), intent(in), optional :: redundancy
    character(kind=c_char), allocatable :: own(:)     ! none: the argument below is not present
    integer :: axes

    axes = size(whole)
    if (size(offset) /= axes .or. size(extents) /= axes) axes = 0     ! which is refused
    if (present(redundancy)) own = terminated(redundancy)
    status = c_protect_part(session, terminated(name), data, terminated(element), int(axes, c_int), &
      whole(axes:1:-1), offset(axes:1:-1), extents(axes:1:-1), own)
  end function

  ! Protects some elements of an array: the ranges from firsts(i) to lasts(i), counted from 1. `element_bytes`: the size
  ! of an element.
  integer(c_int) function mend_protect_subset(session, name, data, element_bytes, firsts, lasts, redundancy) &
    result(status)
    type(c_ptr), intent(in) :: session, data
    character(len=*), intent(in) :: name
    integer(c_size_t), intent(in) :: element_bytes, firsts(:), lasts(:)
    character(len=*), intent(in), optional :: redundancy
    character(kind=c_char), allocatable :: own(:)     ! none: the argument below is not present
    integer :: ranges

    ranges = size(firsts)
    if (size(lasts) /= ranges) ranges = -1     ! which is refused
    if (present(redundancy)) own = terminated(redundancy)
    status = c_protect_subset(session, terminated(name), data, element_bytes, int(ranges, c_int), firsts - 1, lasts, &
      own)
  end function

  ! Protects `count` elements that are the same on all ranks.
  integer(c_int) function mend_protect_replicated(session, name, data, element, count, redundancy) result(status)
    type(c_ptr), intent(in) :: session, data
    character(len=*), intent(in) :: name, element
    integer(c_size_t), intent(in) :: count
    character(len=*), intent(in), optional :: redundancy
    character(kind=c_char), allocatable :: own(:)     ! none: the argument below is not present

    if (present(redundancy)) own = terminated(redundancy)
    status = c_protect_replicated(session, terminated(name), data, terminated(element), count, own)
  end function

  ! Replaces the memory that mend_protect has protected under `name`, with the same redundancy. For double buffers. The
  ! size must be the same. Call it on every rank, at the same point of the program.
  integer(c_int) function mend_replace(session, name, data, bytes) result(status)
    type(c_ptr), intent(in) :: session, data
    character(len=*), intent(in) :: name
    integer(c_size_t), intent(in) :: bytes

    status = c_replace(session, terminated(name), data, bytes)
  end function

  ! The same for a part of an array, whose offset and extents may differ from before. A replicated array is one part
  ! that is whole.
  integer(c_int) function mend_replace_part(session, name, data, element, whole, offset, extents) result(status)
    type(c_ptr), intent(in) :: session, data
    character(len=*), intent(in) :: name, element
    integer(c_size_t), intent(in) :: whole(:), offset(:), extents(:)
    integer :: axes

    axes = size(whole)
    if (size(offset) /= axes .or. size(extents) /= axes) axes = 0     ! which is refused
    status = c_replace_part(session, terminated(name), data, terminated(element), int(axes, c_int), &
      whole(axes:1:-1), offset(axes:1:-1), extents(axes:1:-1))
  end function

  ! Protects a file in memory; call it before mend_restore. It is written and read like a file, and committed and
  ! restored like other data.
  integer(c_int) function mend_protect_file(session, name, redundancy) result(status)
    type(c_ptr), intent(in) :: session
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: redundancy
    character(kind=c_char), allocatable :: own(:)     ! none: the argument below is not present

    if (present(redundancy)) own = terminated(redundancy)
    status = c_protect_file(session, terminated(name), own)
  end function

  ! Opens a file in memory as OPEN does, and returns the unit, for READ, WRITE, INQUIRE and CLOSE. Protects the file
  ! first if it is not protected. `mode`: "r" reads, "r+" reads and writes, "w" begins with an empty file, "a"
  ! appends. `form` is that of OPEN, "unformatted" by default; `access` is "sequential" (the default) or "stream". A
  ! file that was opened for writing must be closed before mend_commit. Returns MEND_ERROR if the file is to be read
  ! and was neither written nor restored: call mend_file_exists first; or if OPEN fails, as for a file that is open.
  integer(c_int) function mend_file_open(session, name, mode, unit, form, access) result(status)
    type(c_ptr), intent(in) :: session
    character(len=*), intent(in) :: name, mode
    integer, intent(out) :: unit
    character(len=*), intent(in), optional :: form, access
    character(len=:), allocatable :: path, of_form, of_access, action, position
    character(len=256) :: why
    type(c_ptr) :: opened
    integer :: failed

    unit = -1
    opened = c_file_open(session, terminated(name), terminated(mode))     ! checks, and empties the file in mode "w"
    status = merge(MEND_SUCCESS, MEND_ERROR, c_associated(opened))
    if (status == MEND_SUCCESS) status = mend_file_path(session, name, path)
    if (status /= MEND_SUCCESS) return
    if (c_close(opened) /= 0) status = c_file_not_opened(terminated(name), terminated("it cannot be closed"))
    if (status /= MEND_SUCCESS) return
    of_form = "unformatted"
    if (present(form)) of_form = form
    of_access = "sequential"
    if (present(access)) of_access = access
    action = "readwrite"
    if (index(mode, "+") == 0) action = trim(merge("read ", "write", mode(1:1) == "r"))
    position = trim(merge("append", "rewind", mode(1:1) == "a"))
    why = ""
    open(newunit=unit, file=path, status="old", form=of_form, access=of_access, action=action, position=position, &
      iostat=failed, iomsg=why)
    if (failed == 0) return
    unit = -1
    status = c_file_not_opened(terminated(name), terminated(trim(why)))
  end function

  ! Returns a path by which this process can open a file in memory. Protects the file first if it is not protected. For
  ! OPEN with other specifiers, with status="old", and for libraries. It is valid until the body is left.
  integer(c_int) function mend_file_path(session, name, path) result(status)
    type(c_ptr), intent(in) :: session
    character(len=*), intent(in) :: name
    character(len=:), allocatable, intent(out) :: path
    type(c_ptr) :: from

    from = c_file_path(session, terminated(name))
    status = merge(MEND_SUCCESS, MEND_ERROR, c_associated(from))
    path = ""
    if (status == MEND_SUCCESS) path = text_at(from)
  end function

  ! Returns true if a file in memory was written or restored.
  logical function mend_file_exists(session, name) result(exists)
    type(c_ptr), intent(in) :: session
    character(len=*), intent(in) :: name

    exists = c_file_exists(session, terminated(name)) /= 0
  end function

  ! The size of a file in memory in bytes, without what is still in the buffer of a writer.
  integer(c_int) function mend_file_size(session, name, bytes) result(status)
    type(c_ptr), intent(in) :: session
    character(len=*), intent(in) :: name
    integer(c_size_t), intent(out) :: bytes

    bytes = 0
    status = c_file_size(session, terminated(name), bytes)
  end function

  ! A text in the form of C.
  pure function terminated(text) result(characters)
    character(len=*), intent(in) :: text
    character(kind=c_char) :: characters(len_trim(text) + 1)
    integer :: i

    do i = 1, len_trim(text)
      characters(i) = text(i:i)
    end do
    characters(len_trim(text) + 1) = c_null_char
  end function

  integer(c_int) function mend_commit_due(session, due) result(status)
    type(c_ptr), intent(in) :: session
    logical, intent(out) :: due
    integer(c_int) :: flag

    status = c_commit_due(session, flag)
    due = flag /= 0
  end function

  logical function mend_should_exit(session)
    type(c_ptr), intent(in) :: session

    mend_should_exit = c_should_exit(session) /= 0
  end function

  integer(c_int) function mend_agree(session, flag) result(status)
    type(c_ptr), intent(in) :: session
    logical, intent(inout) :: flag
    integer(c_int) :: agreed

    agreed = merge(1_c_int, 0_c_int, flag)
    status = c_agree(session, agreed)
    flag = agreed /= 0
  end function

  integer(c_int) function mend_on_repair(session, mend_repair_callback, data) result(status)
    type(c_ptr), intent(in) :: session
    procedure(mend_body) :: mend_repair_callback
    type(c_ptr), intent(in), optional :: data

    status = c_on_repair(session, c_funloc(mend_repair_callback), data_or_null(data))
  end function

  integer(c_int) function mend_transaction(session, mend_transaction_work, committed, data) result(status)
    type(c_ptr), intent(in) :: session
    procedure(mend_work) :: mend_transaction_work
    logical, intent(out) :: committed
    type(c_ptr), intent(in), optional :: data
    integer(c_int) :: flag

    status = c_transaction(session, c_funloc(mend_transaction_work), data_or_null(data), flag)
    committed = flag /= 0
  end function

  integer(c_int) function mend_unprotect(session, name) result(status)
    type(c_ptr), intent(in) :: session
    character(len=*), intent(in) :: name

    status = c_unprotect(session, terminated(name))
  end function

  ! Fields of the job's result file (mend run --result FILE); see mend.h.
  integer(c_int) function mend_report_number(session, name, number) result(status)
    type(c_ptr), intent(in) :: session
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: number

    status = c_report_number(session, terminated(name), number)
  end function

  integer(c_int) function mend_report_integer(session, name, number) result(status)
    type(c_ptr), intent(in) :: session
    character(len=*), intent(in) :: name
    integer(c_long), intent(in) :: number

    status = c_report_integer(session, terminated(name), number)
  end function

  integer(c_int) function mend_report_text(session, name, text) result(status)
    type(c_ptr), intent(in) :: session
    character(len=*), intent(in) :: name, text

    status = c_report_text(session, terminated(name), terminated(text))
  end function

  ! The error of the last function that returned MEND_ERROR in this process.
  function mend_error_text() result(text)
    character(len=:), allocatable :: text

    text = text_at(c_error_text())
  end function

  ! A text of C.
  function text_at(from) result(text)
    type(c_ptr), intent(in) :: from
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i, length

    length = int(c_length(from))
    call c_f_pointer(from, letters, [length])
    allocate(character(len=length) :: text)
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end function

  type(c_ptr) function data_or_null(data)
    type(c_ptr), intent(in), optional :: data

    data_or_null = c_null_ptr
    if (present(data)) data_or_null = data
  end function

end module
