// Shows the files of all ranks as one: an HDF5 file in which every array is a virtual dataset over the parts in the
// ranks' files, and a description of it for ParaView and VisIt (XDMF).

#pragma once

#include "base/ids.hpp"
#include "store/snapshot/part_boxes.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace mend {

/// An array that ranks have parts of. arrays_of returns the arrays by name; if a rank has a whole array, its part is
/// enough. It throws EnvironmentError if ranks have declared parts of different arrays under one name.
struct SharedArray {
  struct Piece {
    Rank rank;
    ArrayPart part;
  };
  std::string element;
  Extents whole;
  std::vector<Piece> pieces;  ///< without empty parts; an array without elements has none

  ByteCount element_bytes() const { return mend::element_bytes(element); }
};
std::map<std::string, SharedArray> arrays_of(const std::vector<Parts>& ranks);

/// Throws UsageError if `wanted`, the part of member `name`, is of another array than `committed`.
void require_same_array(const std::string& name, const ArrayPart& wanted, const SharedArray& committed);

/// Returns the name of a rank's file.
std::string rank_file_name(Rank rank);

/// Writes the index as unfinished(path), in the folder of the ranks' files. Calls HDF5 (store/disk/h5.hpp). Throws
/// EnvironmentError.
void make_index(const std::filesystem::path& path, const std::map<std::string, SharedArray>& arrays);

/// Returns the text of the description, for arrays of numbers with at most three axes. `index`: the name of the HDF5
/// file.
std::string describe_for_viewers(const std::string& index, Version version,
                                 const std::map<std::string, SharedArray>& arrays);

}  // namespace mend
