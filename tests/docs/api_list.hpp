// The interface of mend as a list: what the public headers declare, and what corresponds to what in C++, C and Fortran.
// docs/api.md is this list.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace documents {

/// Something that a public header declares.
struct Declaration {
  std::string scope;  ///< "Session" for its members; empty for what belongs to no type
  std::string name;
  std::string text;  ///< as it is declared, on one line, without its body
  std::string what;  ///< the first sentence of its comment; empty without one
  bool is_function = false;
};

/// What `header`, in C++, declares for users: neither private members, nor what stands in a namespace detail.
std::vector<Declaration> declarations_in_cpp(std::string_view header);
/// The functions that a header in C declares. One without a comment of its own has that of the one before.
std::vector<Declaration> functions_in_c(std::string_view header);
/// The functions of a module in Fortran that are called mend_..., with their arguments.
std::vector<Declaration> functions_in_fortran(std::string_view module);

/// What a function in C is in C++: "Session::rank"; empty when C++ needs none.
std::string counterpart_in_cpp(const std::string& c_name, const std::vector<Declaration>& cpp);

/// The whole list, for these headers.
std::string api_list(const std::vector<std::string>& headers);

}  // namespace documents
