// A function with which C++ programs write and read the elements of a member that is not a plain array.

#pragma once

#include <cstdio>
#include <functional>
#include <iosfwd>
#include <variant>

namespace fenix::data {

/// The same arguments as Fenix_Serialize_file_fn: file, direction (FENIX_SERIALIZE, FENIX_DESERIALIZE), buffer, first
/// element, count.
using SerializeFileFunc = std::function<void(std::FILE*, int, void*, int, int)>;
using SerializeStreamFunc = std::function<void(std::iostream&, int, void*, int, int)>;
using SerializeFunc = std::variant<SerializeFileFunc, SerializeStreamFunc>;

}  // namespace fenix::data
