// What makes the files of all ranks one to look at: an index of HDF5, in which every array is a virtual dataset that
// shows the parts where they lie, and a description of it for ParaView and VisIt (XDMF).

#pragma once

#include "base/ids.hpp"
#include "store/snapshot/part_boxes.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace mend {

/// The arrays that these ranks' parts make, by name: each rank's part, and of what file. Whoever has the whole array
/// has it for all. arrays_of throws EnvironmentError when ranks have declared parts of different arrays under one name.
struct SharedArray {
  struct Piece {
    Rank rank;
    ArrayPart part;
  };
  std::string element;
  Extents whole;
  std::vector<Piece> pieces;  ///< none of them empty; there is none of an array without elements

  ByteCount element_bytes() const { return mend::element_bytes(element); }
};
std::map<std::string, SharedArray> arrays_of(const std::vector<Parts>& ranks);

/// Throws UsageError when member `name`, which is `wanted`, is part of another array than was committed.
void require_same_array(const std::string& name, const ArrayPart& wanted, const SharedArray& committed);

/// The name of a rank's file.
std::string rank_file_name(Rank rank);

/// Makes the file unfinished(path), beside the files of the ranks. Enters HDF5 (store/disk/h5.hpp). Throws
/// EnvironmentError.
void make_index(const std::filesystem::path& path, const std::map<std::string, SharedArray>& arrays);

/// The text of the description, for arrays of numbers with three axes at most; `index`: the name of the file of HDF5.
std::string describe_for_viewers(const std::string& index, Version version,
                                 const std::map<std::string, SharedArray>& arrays);

}  // namespace mend
