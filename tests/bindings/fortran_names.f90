! A program may name its modules like arguments of mend's functions. Compiling this file is the test.

module body
  implicit none
  integer, parameter :: of_body = 1
end module

module work
  implicit none
  integer, parameter :: of_work = 2
end module

module factory
  implicit none
  integer, parameter :: of_factory = 3
end module

module callback
  implicit none
  integer, parameter :: of_callback = 4
end module

integer function sum_of_names()
  use mend
  use body
  use work
  use factory
  use callback
  implicit none

  sum_of_names = of_body + of_work + of_factory + of_callback + MEND_SUCCESS
end function
