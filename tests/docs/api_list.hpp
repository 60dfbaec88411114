// The interface of mend as a list: the declarations of the public headers, and the corresponding names in C++, C and
// Fortran. docs/api.md is this list.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace documents {

/// A declaration in a public header.
struct Declaration {
  std::string scope;  ///< "Session" for its members; outside of types the namespace within mend, or without it
  std::string name;
  std::string text;  ///< the declaration on one line, without its body
  std::string what;  ///< the first sentence of its comment; empty if there is none
  bool is_function = false;
};

/// The declarations in a C++ header that are for users: without private members and without namespaces named detail.
std::vector<Declaration> declarations_in_cpp(std::string_view header);
/// The functions that a C header declares. A function without a comment has that of the function before.
std::vector<Declaration> functions_in_c(std::string_view header);
/// The functions of a module in Fortran that are called mend_..., with their arguments, and without those that an
/// abstract interface describes.
std::vector<Declaration> functions_in_fortran(std::string_view module);

/// The name in C++ of a function in C: "Session::rank"; empty if C++ needs no such function.
std::string counterpart_in_cpp(const std::string& c_name, const std::vector<Declaration>& cpp);

/// The complete list for these headers.
std::string api_list(const std::vector<std::string>& headers);

}  // namespace documents
