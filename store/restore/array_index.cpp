#include "store/restore/array_index.hpp"

#include "base/error.hpp"
#include "store/disk/durable_file.hpp"
#include "store/disk/h5.hpp"
#include "store/files/memory_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace mend {
namespace {

std::string dataset_of(const std::string& member) { return "/arrays/" + h5::link_name(member); }

h5::Handle box(const Extents& space, const Extents& offset, const Extents& extents) {
  h5::Handle handle = h5::space_of(space);
  const auto begin = h5::sizes(offset);
  const auto count = h5::sizes(extents);
  h5::check(H5Sselect_hyperslab(handle, H5S_SELECT_SET, begin.data(), nullptr, count.data(), nullptr),
            "HDF5 cannot select a part of an array");
  return handle;
}

void add_array(hid_t file, const std::string& name, const SharedArray& array, const std::string& where) {
  const h5::Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, where + ": HDF5 cannot make properties");
  const std::string source = dataset_of(name);
  for (const auto& [rank, part] : array.pieces) {
    const h5::Handle here = box(array.whole, part.offset, part.extents);
    const h5::Handle there = h5::space_of(part.extents);
    // HDF5 looks for a file name without a folder beside the index, so the folder may be moved.
    h5::check(H5Pset_virtual(properties, here, rank_file_name(rank).c_str(), source.c_str(), there),
              where + ": HDF5 cannot map a part");
  }
  const h5::Handle type = h5::type_of(array.element, array.element_bytes());
  const h5::Handle space = h5::space_of(array.whole);
  h5::Handle dataset(H5Dcreate2(file, h5::link_name(name).c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                     H5Dclose, where + ": HDF5 cannot make a virtual dataset");
  dataset.close(where + ": HDF5 cannot write a virtual dataset");
}

/// Escapes a text for XML.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    switch (letter) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += letter;
    }
  }
  return safe;
}

struct Number {
  const char* type;
  ByteCount precision;
};
/// XDMF readers do not support unsigned numbers of 64 bits.
Number number_of(const std::string& element, ByteCount bytes) {
  if (element.starts_with("float")) return {"Float", bytes};
  return {element.starts_with("int") || bytes == 8 ? "Int" : "UInt", bytes};
}

bool can_be_viewed(const SharedArray& array) {
  const bool is_field =
      std::any_of(array.whole.begin(), array.whole.end(), [](std::size_t extent) { return extent > 1; });
  const bool is_number = !array.element.starts_with("bytes") && array.element_bytes() <= 8;
  return !array.pieces.empty() && is_field && array.whole.size() <= 3 && is_number;
}

}  // namespace

std::map<std::string, SharedArray> arrays_of(const std::vector<Parts>& ranks) {
  std::map<std::string, SharedArray> arrays;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const auto& [name, part] : ranks[rank]) {
      SharedArray& array = arrays.try_emplace(name, SharedArray{part.element, part.whole, {}}).first->second;
      if (array.whole != part.whole || array.element != part.element) {
        throw EnvironmentError(
            fmt::format("member '{}' is a {} on rank {}, and part of another array on ranks before it", name,
                        to_string(part), rank));
      }
      const bool is_there = !array.pieces.empty() && array.pieces.front().part.is_whole();
      if (part.bytes() > 0 && !is_there) array.pieces.push_back({Rank{static_cast<int>(rank)}, part});
    }
  }
  return arrays;
}

void require_same_array(const std::string& name, const ArrayPart& wanted, const SharedArray& committed) {
  if (committed.whole == wanted.whole && committed.element == wanted.element) return;
  const Extents zeros(committed.whole.size(), 0);
  const ArrayPart nothing{committed.element, zeros, zeros, committed.whole};
  throw UsageError(fmt::format("member '{}' is a {} but was committed as a {}: restore needs the same array", name,
                               to_string(wanted),
                               to_string(committed.pieces.empty() ? nothing : committed.pieces.front().part)));
}

std::string rank_file_name(Rank rank) { return fmt::format("rank-{:05}.h5", rank.value); }

void make_index(const std::filesystem::path& path, const std::map<std::string, SharedArray>& arrays) {
  const h5::Quiet quiet;
  const std::string draft = unfinished(path);
  const MemoryFile index;
  const h5::Handle properties = h5::access_to_memory();
  // Virtual datasets need this format. It also has checksums of its own.
  h5::check(H5Pset_libver_bounds(properties, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST),
            draft + ": HDF5 cannot choose a format");
  h5::Handle file = h5::make_file(index.path(), H5P_DEFAULT, properties, draft);
  for (const auto& [name, array] : arrays) {
    if (!array.pieces.empty()) add_array(file, name, array, draft);
  }
  file.close(draft + ": HDF5 cannot write this file");
  index.copy_to(draft);
}

std::string describe_for_viewers(const std::string& index, Version version,
                                 const std::map<std::string, SharedArray>& arrays) {
  std::string grids;
  for (const auto& [name, array] : arrays) {
    if (!can_be_viewed(array)) continue;
    Extents nodes = array.whole;
    nodes.resize(3, 1);  // at the end: ParaView matches the dataset's axes with the grid's first ones
    const Number number = number_of(array.element, array.element_bytes());
    grids += fmt::format(R"(    <Grid Name="{0}" GridType="Uniform">
      <Time Value="{1}"/>
      <Topology TopologyType="3DCoRectMesh" Dimensions="{2}"/>
      <Geometry GeometryType="ORIGIN_DXDYDZ">
        <DataItem Dimensions="3" Format="XML">0 0 0</DataItem>
        <DataItem Dimensions="3" Format="XML">1 1 1</DataItem>
      </Geometry>
      <Attribute Name="{0}" AttributeType="Scalar" Center="Node">
        <DataItem Dimensions="{3}" NumberType="{4}" Precision="{5}" Format="HDF">{6}:/{7}</DataItem>
      </Attribute>
    </Grid>
)",
                         escaped(name), version.value, fmt::join(nodes, " "), fmt::join(array.whole, " "), number.type,
                         number.precision, index, escaped(h5::link_name(name)));
  }
  return fmt::format("<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\">\n  <Domain>\n{}  </Domain>\n</Xdmf>\n", grids);
}

}  // namespace mend
