// A rank's snapshot as an HDF5 file:
//
//   | 512 bytes: version, rank, length, and a hash of the rest | HDF5: /arrays/<member>, /members/<member> |
//
// The first 512 bytes are text in an HDF5 user block, which HDF5 skips; `head -n 4` shows them. Members that are parts
// of an array (store/array_part.hpp) are datasets of that type and those extents; other members are datasets of bytes.
//
// HDF5 makes the file, with space for the data, in the thread that commits; the file then takes a few kilobytes. The
// data are written into that space without HDF5, so another thread can do it (see store/disk/h5.hpp).

#pragma once

#include "base/ids.hpp"
#include "store/snapshot/part_boxes.hpp"
#include "store/snapshot/snapshot.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mend {

/// The contents of the first lines of a rank's file. The manifest of a version repeats them.
struct FileSeal {
  Version version;
  Rank rank;
  int ranks = 0;
  ByteCount bytes = 0;     ///< of the whole file
  std::uint64_t hash = 0;  ///< of everything after these lines
  bool operator==(const FileSeal&) const = default;
};

/// Bytes of a snapshot and their position in the file.
struct Piece {
  ByteCount at = 0;
  std::span<const std::byte> bytes;
};

/// Makes the file unfinished(path) for the members of undamaged snapshots, without their data. Returns the position of
/// each member's data. Enters HDF5. Throws EnvironmentError.
std::vector<Piece> lay_out_rank_file(const std::filesystem::path& path, std::span<const PackedMember> members);

/// Writes the data, then the seal, whose hash and length are computed here, and renames the file when it is on the
/// disk. Any thread. Throws EnvironmentError. Reaches disk.write when half is written, and disk.rename.
void fill_rank_file(const std::filesystem::path& path, std::span<const Piece> pieces, FileSeal seal);

/// Reads the first lines of a file. Any thread. Throws EnvironmentError if the file cannot be read or has no seal.
FileSeal read_seal(const std::filesystem::path& path);

/// Returns the damage of a file that should have this seal, such as "DIR/rank-0001.h5 is torn: ...", or nothing. Checks
/// every byte. Any thread.
std::optional<std::string> find_damage(const std::filesystem::path& path, const FileSeal& expected);

/// A sealed file from which members are read. Enters HDF5.
class RankFile {
 public:
  /// Throws EnvironmentError.
  explicit RankFile(std::filesystem::path path);
  ~RankFile();
  RankFile(RankFile&&) noexcept;

  /// The shape and the bytes of a member that is not part of an array. read_member returns nothing if there is no such
  /// member. It throws EnvironmentError.
  struct Bytes {
    std::string shape;
    std::vector<std::byte> bytes;
  };
  std::optional<Bytes> read_member(std::string_view name) const;

  /// Returns the names of the members that are not parts of arrays. Throws EnvironmentError.
  std::vector<std::string> names() const;

  /// Copies the elements that `stored`, the part of member `name` in this file, shares with `wanted`. `target`: the
  /// bytes of `wanted`. Throws EnvironmentError.
  void read_overlap(std::string_view name, const ArrayPart& stored, const ArrayPart& wanted,
                    std::span<std::byte> target) const;

 private:
  struct Open;
  std::filesystem::path path_;
  std::unique_ptr<Open> open_;
};

}  // namespace mend
