// HDF5 in C++: handles that close themselves, and errors that are thrown.
//
// HDF5 may be entered by one thread of a process at a time, and the application may use it too. So mend enters it only
// in the application's thread, inside commits and restores.

#pragma once

#include "base/error.hpp"
#include "base/ids.hpp"

#include <hdf5.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mend::h5 {

/// Suppresses HDF5's error output while it lives; errors are thrown instead.
class Quiet {
 public:
  Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  /// Throws EnvironmentError(`what`) if `id` is negative.
  Handle(hid_t id, Close closes, const std::string& what) : id_(id), close_(closes) {
    if (id < 0) throw EnvironmentError(what);
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }

  /// Closes it now, and throws EnvironmentError(`what`) if buffered data cannot be written.
  void close(const std::string& what) {
    if (close_(std::exchange(id_, -1)) < 0) throw EnvironmentError(what);
  }

 private:
  hid_t id_;
  Close close_;
};

inline void check(herr_t code, const std::string& what) {
  if (code < 0) throw EnvironmentError(what);
}

/// Returns the type of an array's elements (ArrayPart::element) in memory.
inline Handle type_of(const std::string& element, ByteCount bytes) {
  const auto copy = [](hid_t type) { return Handle(H5Tcopy(type), H5Tclose, "HDF5 cannot copy a type"); };
  if (element == "float32") return copy(H5T_NATIVE_FLOAT);
  if (element == "float64") return copy(H5T_NATIVE_DOUBLE);
  if (element == "int8") return copy(H5T_NATIVE_INT8);
  if (element == "int16") return copy(H5T_NATIVE_INT16);
  if (element == "int32") return copy(H5T_NATIVE_INT32);
  if (element == "int64") return copy(H5T_NATIVE_INT64);
  if (element == "uint8") return copy(H5T_NATIVE_UINT8);
  if (element == "uint16") return copy(H5T_NATIVE_UINT16);
  if (element == "uint32") return copy(H5T_NATIVE_UINT32);
  if (element == "uint64") return copy(H5T_NATIVE_UINT64);
  return Handle(H5Tcreate(H5T_OPAQUE, bytes), H5Tclose, "HDF5 cannot make a type");
}

inline std::vector<hsize_t> sizes(std::span<const std::size_t> extents) { return {extents.begin(), extents.end()}; }

inline Handle space_of(std::span<const std::size_t> extents) {
  const auto dims = sizes(extents);
  return Handle(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose,
                "HDF5 cannot make a dataspace");
}

/// Returns the access properties of files that are made in a MemoryFile. HDF5 opens files in memory by stdio only.
inline Handle access_to_memory() {
  Handle properties(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "HDF5 cannot make properties");
  check(H5Pset_fapl_stdio(properties), "HDF5 cannot write by stdio");
  return properties;
}

/// Returns the access properties of files that nobody changes any more. HDF5 would lock them, which not every file
/// system can. Releases before 1.10.7, and 1.12.0, always do.
inline Handle access_to_finished_file() {
  Handle properties(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "HDF5 cannot make properties");
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
  check(H5Pset_file_locking(properties, false, true), "HDF5 cannot leave out locks");
#endif
  return properties;
}

/// Closes a file, or leaves it open if it cannot be written to the end, for example on a full disk. If HDF5 fails to
/// close a file, it crashes when the process exits; an open file does no harm.
inline herr_t close_file(hid_t file) { return H5Fflush(file, H5F_SCOPE_LOCAL) < 0 ? -1 : H5Fclose(file); }

/// Makes the file `path`. `name` is its name in error messages.
inline Handle make_file(const std::filesystem::path& path, hid_t creation, hid_t access, const std::string& name) {
  return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access), close_file, name + ": HDF5 cannot make this file"};
}

/// Returns the name of the HDF5 object for a member. A slash would make a group, and a per cent sign has a meaning in
/// the sources of a virtual dataset.
inline std::string link_name(std::string_view name) {
  std::string safe;
  for (const char letter : name) {
    switch (letter) {
      case '~': safe += "~0"; break;
      case '/': safe += "~1"; break;
      case '%': safe += "~2"; break;
      default: safe += letter;
    }
  }
  if (safe.find_first_not_of('.') == std::string::npos) safe = "~3" + safe;  // "." and ".." name groups
  return safe;
}

/// The inverse of link_name.
inline std::string name_of_link(std::string_view link) {
  std::string name;
  for (std::size_t at = 0; at < link.size(); ++at) {
    if (link[at] != '~' || at + 1 == link.size()) {
      name += link[at];
      continue;
    }
    switch (link[++at]) {
      case '0': name += '~'; break;
      case '1': name += '/'; break;
      case '2': name += '%'; break;
      default: break;
    }
  }
  return name;
}

}  // namespace mend::h5
