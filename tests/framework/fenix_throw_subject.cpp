// The same program in C++, with exceptions.
#include "tests/framework/fenix_return_subject.c"
