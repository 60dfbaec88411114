#include "store/disk/rank_file.hpp"

#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "store/disk/durable_file.hpp"
#include "store/files/memory_file.hpp"
#include "store/disk/h5.hpp"
#include "store/snapshot/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace mend {
namespace {

constexpr ByteCount seal_bytes = 512;  // the smallest user block
constexpr const char* arrays_group = "/arrays";
constexpr const char* members_group = "/members";
constexpr const char* shape_attribute = "shape";

std::string text_of(const FileSeal& seal) {
  std::string text = fmt::format("mend checkpoint 1\nversion {}, rank {} of {}\n{} bytes\nhash {:016x}\n",
                                 seal.version.value, seal.rank.value, seal.ranks, seal.bytes, seal.hash);
  text.resize(seal_bytes, '\0');
  return text;
}

std::string complaint(const char* what, const std::filesystem::path& path) {
  return fmt::format("{}: HDF5 cannot {}", path.string(), what);
}

h5::Handle make_group(hid_t file, const char* name, const std::filesystem::path& path) {
  return {H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, complaint("make a group", path)};
}

void write_text(hid_t object, const char* name, std::string_view text, const std::filesystem::path& path) {
  const h5::Handle type(H5Tcopy(H5T_C_S1), H5Tclose, complaint("copy a type", path));
  h5::check(H5Tset_size(type, std::max<std::size_t>(text.size(), 1)), complaint("size a text", path));
  const h5::Handle space(H5Screate(H5S_SCALAR), H5Sclose, complaint("make a dataspace", path));
  const h5::Handle attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                             complaint("make an attribute", path));
  h5::check(H5Awrite(attribute, type, std::string(text).c_str()), complaint("write an attribute", path));
}

std::string read_text(hid_t object, const char* name, const std::filesystem::path& path) {
  const h5::Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose, complaint("find an attribute", path));
  const h5::Handle type(H5Aget_type(attribute), H5Tclose, complaint("tell a type", path));
  std::string text(H5Tget_size(type), '\0');
  h5::check(H5Aread(attribute, type, text.data()), complaint("read an attribute", path));
  return text;
}

void write_numbers(hid_t object, const char* name, const Extents& numbers, const std::filesystem::path& path) {
  const auto values = h5::sizes(numbers);
  const h5::Handle space = h5::space_of(Extents{numbers.size()});
  const h5::Handle attribute(H5Acreate2(object, name, H5T_NATIVE_HSIZE, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                             complaint("make an attribute", path));
  h5::check(H5Awrite(attribute, H5T_NATIVE_HSIZE, values.data()), complaint("write an attribute", path));
}

/// Makes a dataset whose space in the file is allocated immediately.
h5::Handle make_dataset(hid_t group, const std::string& name, hid_t type, const Extents& extents,
                        const std::filesystem::path& path) {
  const h5::Handle space = h5::space_of(extents);
  const h5::Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, complaint("make properties", path));
  h5::check(H5Pset_layout(properties, H5D_CONTIGUOUS), complaint("choose a layout", path));
  h5::check(H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY), complaint("get room early", path));
  h5::check(H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER), complaint("leave room empty", path));
  return {H5Dcreate2(group, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose,
          complaint("make a dataset", path)};
}

h5::Handle open_dataset(hid_t file, const char* group, std::string_view name, const std::filesystem::path& path) {
  const std::string whole_name = fmt::format("{}/{}", group, h5::link_name(name));
  return {H5Dopen2(file, whole_name.c_str(), H5P_DEFAULT), H5Dclose, complaint("open a dataset", path)};
}

/// Makes a dataset for each member. Returns the positions of their data.
std::vector<Piece> make_datasets(hid_t file, std::span<const PackedMember> members, const std::filesystem::path& path) {
  const h5::Handle arrays = make_group(file, arrays_group, path);
  const h5::Handle others = make_group(file, members_group, path);
  std::vector<Piece> pieces;
  for (const PackedMember& member : members) {
    const auto part = parse_array_part(member.shape);
    const Extents as_bytes{member.data.size()};
    const h5::Handle type = part ? h5::type_of(part->element, part->element_bytes()) : h5::type_of("uint8", 1);
    const h5::Handle dataset =
        make_dataset(part ? arrays : others, h5::link_name(member.name), type, part ? part->extents : as_bytes, path);
    if (part) {
      write_numbers(dataset, "offset", part->offset, path);
      write_numbers(dataset, "whole", part->whole, path);
    } else {
      write_text(dataset, shape_attribute, member.shape, path);
    }
    if (!member.data.empty()) pieces.push_back({H5Dget_offset(dataset), member.data});
  }
  return pieces;
}

}  // namespace

// --- writing -----------------------------------------------------------------------------------------------------

std::vector<Piece> lay_out_rank_file(const std::filesystem::path& path, std::span<const PackedMember> members) {
  const h5::Quiet quiet;
  const std::filesystem::path draft = unfinished(path);
  const MemoryFile metadata;
  const h5::Handle properties(H5Pcreate(H5P_FILE_CREATE), H5Pclose, complaint("make properties", draft));
  h5::check(H5Pset_userblock(properties, seal_bytes), complaint("leave room at the beginning", draft));
  const h5::Handle access = h5::access_to_memory();
  h5::check(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18),
            complaint("choose a format in which attributes may have more than 64 KiB", draft));
  h5::Handle file = h5::make_file(metadata.path(), properties, access, draft);
  std::vector<Piece> pieces = make_datasets(file, members, draft);
  file.close(complaint("write this file", draft));
  metadata.copy_to(draft);
  return pieces;
}

void fill_rank_file(const std::filesystem::path& path, std::span<const Piece> pieces, FileSeal seal) {
  {
    const OpenFile file(unfinished(path), OpenFile::For::writing);
    ByteCount left = 0;
    for (const Piece& piece : pieces) left += piece.bytes.size();
    const ByteCount half = left / 2;
    for (const Piece& piece : pieces) {
      const bool crosses = left > half && left - piece.bytes.size() <= half;
      const ByteCount first = crosses ? left - half : piece.bytes.size();
      file.write(piece.bytes.first(first), piece.at);
      if (crosses) reach("disk.write");
      file.write(piece.bytes.subspan(first), piece.at + first);
      left -= piece.bytes.size();
    }
    seal.bytes = file.size();
    seal.hash = hash_of_file(file, seal_bytes);
    const std::string lines = text_of(seal);
    file.write(std::as_bytes(std::span(lines)), 0);
    file.sync();
  }
  reach("disk.rename");
  finish_file(path);
}

// --- reading -----------------------------------------------------------------------------------------------------

namespace {

FileSeal seal_in(const OpenFile& file, const std::filesystem::path& path) {
  std::string text(seal_bytes, '\0');
  file.read(std::as_writable_bytes(std::span(text)), 0);
  unsigned long version = 0;
  FileSeal seal;
  const int found = std::sscanf(text.c_str(), "mend checkpoint 1\nversion %lu, rank %d of %d\n%zu bytes\nhash %lx\n",
                                &version, &seal.rank.value, &seal.ranks, &seal.bytes, &seal.hash);
  seal.version = Version{version};
  if (found != 5 || text_of(seal) != text) {
    throw EnvironmentError(
        fmt::format("{} is not a checkpoint of mend, or its first lines are damaged", path.string()));
  }
  return seal;
}

}  // namespace

FileSeal read_seal(const std::filesystem::path& path) { return seal_in(OpenFile(path, OpenFile::For::reading), path); }

std::optional<std::string> find_damage(const std::filesystem::path& path, const FileSeal& expected) {
  try {
    const OpenFile file(path, OpenFile::For::reading);
    if (file.size() != expected.bytes) {
      return fmt::format("{} is incomplete: it has {} bytes and should have {}", path.string(), file.size(),
                         expected.bytes);
    }
    if (seal_in(file, path) != expected) return fmt::format("{} is not the file that was written here", path.string());
    if (hash_of_file(file, seal_bytes) != expected.hash)
      return fmt::format("{} is damaged: its hash has changed since it was written", path.string());
    return std::nullopt;
  } catch (const EnvironmentError& error) {
    return error.what();
  }
}

struct RankFile::Open {
  h5::Handle file;
};

RankFile::RankFile(std::filesystem::path path) : path_(std::move(path)) {
  const h5::Quiet quiet;
  const h5::Handle access = h5::access_to_finished_file();
  h5::Handle file(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access), H5Fclose, complaint("open this file", path_));
  open_ = std::make_unique<Open>(Open{std::move(file)});
}
RankFile::~RankFile() = default;
RankFile::RankFile(RankFile&&) noexcept = default;

std::optional<RankFile::Bytes> RankFile::read_member(std::string_view name) const {
  const h5::Quiet quiet;
  const h5::Handle group(H5Gopen2(open_->file, members_group, H5P_DEFAULT), H5Gclose, complaint("open a group", path_));
  if (H5Lexists(group, h5::link_name(name).c_str(), H5P_DEFAULT) <= 0) return std::nullopt;
  const h5::Handle dataset = open_dataset(open_->file, members_group, name, path_);
  Bytes read{read_text(dataset, shape_attribute, path_), {}};
  if (read.shape.ends_with(" []")) read.shape.resize(read.shape.size() - 3);  // written before 2026-11
  const h5::Handle space(H5Dget_space(dataset), H5Sclose, complaint("tell the size of a dataset", path_));
  read.bytes.resize(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  if (!read.bytes.empty()) {
    h5::check(H5Dread(dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.bytes.data()),
              complaint("read a dataset", path_));
  }
  return read;
}

std::vector<std::string> RankFile::names() const {
  const h5::Quiet quiet;
  const h5::Handle group(H5Gopen2(open_->file, members_group, H5P_DEFAULT), H5Gclose, complaint("open a group", path_));
  H5G_info_t info{};
  h5::check(H5Gget_info(group, &info), complaint("look into a group", path_));
  std::vector<std::string> found;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    const auto link = [&](char* to, std::size_t room) {
      const ssize_t length = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, to, room, H5P_DEFAULT);
      if (length < 0) throw EnvironmentError(complaint("tell a name", path_));
      return static_cast<std::size_t>(length);
    };
    std::string name(link(nullptr, 0), '\0');
    link(name.data(), name.size() + 1);
    found.push_back(h5::name_of_link(name));
  }
  return found;
}

void RankFile::read_overlap(std::string_view name, const ArrayPart& stored, const ArrayPart& wanted,
                            std::span<std::byte> target) const {
  const auto common = overlap(stored, wanted);
  if (!common) return;
  const h5::Quiet quiet;
  const h5::Handle dataset = open_dataset(open_->file, arrays_group, name, path_);
  const h5::Handle here(H5Dget_space(dataset), H5Sclose, complaint("tell the size of a dataset", path_));
  const h5::Handle there = h5::space_of(wanted.extents);
  const auto count = h5::sizes(common->extents);
  const auto from = h5::sizes(common->in_first);
  const auto to = h5::sizes(common->in_second);
  h5::check(H5Sselect_hyperslab(here, H5S_SELECT_SET, from.data(), nullptr, count.data(), nullptr),
            complaint("select a part of a dataset", path_));
  h5::check(H5Sselect_hyperslab(there, H5S_SELECT_SET, to.data(), nullptr, count.data(), nullptr),
            complaint("select a part of an array", path_));
  const h5::Handle type = h5::type_of(stored.element, stored.element_bytes());
  h5::check(H5Dread(dataset, type, there, here, H5P_DEFAULT, target.data()), complaint("read a dataset", path_));
}

}  // namespace mend
