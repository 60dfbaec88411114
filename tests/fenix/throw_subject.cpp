// The same program in C++, with exceptions.
#include "tests/fenix/return_subject.c"
