// The parameters of MPI's functions, by number, for functions that replace MPI's and are written by macros.

#pragma once

#include <cstddef>
#include <tuple>

namespace mend {

template <class Function>
struct ParametersOf;
template <class... Types>
struct ParametersOf<int(Types...)> {
  using As = std::tuple<Types...>;
};

/// The type of a parameter of one of MPI's functions.
template <class Function, std::size_t number>
using Parameter = std::tuple_element_t<number, typename ParametersOf<Function>::As>;

}  // namespace mend

// NOLINTBEGIN(cppcoreguidelines-macro-usage): lists of parameters

#define MEND_PARAMETER(name, i) mend::Parameter<decltype(name), i> a##i
#define MEND_PARAMETERS_1(name) MEND_PARAMETER(name, 0)
#define MEND_PARAMETERS_2(name) MEND_PARAMETERS_1(name), MEND_PARAMETER(name, 1)
#define MEND_PARAMETERS_3(name) MEND_PARAMETERS_2(name), MEND_PARAMETER(name, 2)
#define MEND_PARAMETERS_4(name) MEND_PARAMETERS_3(name), MEND_PARAMETER(name, 3)
#define MEND_PARAMETERS_5(name) MEND_PARAMETERS_4(name), MEND_PARAMETER(name, 4)
#define MEND_PARAMETERS_6(name) MEND_PARAMETERS_5(name), MEND_PARAMETER(name, 5)
#define MEND_PARAMETERS_7(name) MEND_PARAMETERS_6(name), MEND_PARAMETER(name, 6)
#define MEND_PARAMETERS_8(name) MEND_PARAMETERS_7(name), MEND_PARAMETER(name, 7)
#define MEND_PARAMETERS_9(name) MEND_PARAMETERS_8(name), MEND_PARAMETER(name, 8)
#define MEND_PARAMETERS_10(name) MEND_PARAMETERS_9(name), MEND_PARAMETER(name, 9)
#define MEND_PARAMETERS_11(name) MEND_PARAMETERS_10(name), MEND_PARAMETER(name, 10)
#define MEND_PARAMETERS_12(name) MEND_PARAMETERS_11(name), MEND_PARAMETER(name, 11)
#define MEND_ARGUMENTS_1 a0
#define MEND_ARGUMENTS_2 MEND_ARGUMENTS_1, a1
#define MEND_ARGUMENTS_3 MEND_ARGUMENTS_2, a2
#define MEND_ARGUMENTS_4 MEND_ARGUMENTS_3, a3
#define MEND_ARGUMENTS_5 MEND_ARGUMENTS_4, a4
#define MEND_ARGUMENTS_6 MEND_ARGUMENTS_5, a5
#define MEND_ARGUMENTS_7 MEND_ARGUMENTS_6, a6
#define MEND_ARGUMENTS_8 MEND_ARGUMENTS_7, a7
#define MEND_ARGUMENTS_9 MEND_ARGUMENTS_8, a8
#define MEND_ARGUMENTS_10 MEND_ARGUMENTS_9, a9
#define MEND_ARGUMENTS_11 MEND_ARGUMENTS_10, a10
#define MEND_ARGUMENTS_12 MEND_ARGUMENTS_11, a11

// NOLINTEND(cppcoreguidelines-macro-usage)
