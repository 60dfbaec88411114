// A rank's snapshot as a file of HDF5:
//
//   | 512 bytes: whose it is, how long, and a hash of the rest | HDF5: /arrays/<member>, /members/<member> |
//
// The first is what HDF5 calls a user block, and passes over; it is text, so `head -n 4` shows it. Members that are
// parts of an array (store/array_part.hpp) are datasets of that type and those extents, the others are bytes.
//
// HDF5 makes the file, with room for the data, in the thread that commits; it holds a few kilobytes then. The data are
// written into that room without HDF5, by another thread if need be (see store/disk/h5.hpp).

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

/// What the first lines of a rank's file say, and the manifest of a version says again.
struct FileSeal {
  Version version;
  Rank rank;
  int ranks = 0;
  ByteCount bytes = 0;     ///< of the whole file
  std::uint64_t hash = 0;  ///< of what comes after these lines
  bool operator==(const FileSeal&) const = default;
};

/// Bytes of a snapshot, and where in the file they go.
struct Piece {
  ByteCount at = 0;
  std::span<const std::byte> bytes;
};

/// Makes the file unfinished(path) for the members of undamaged snapshots, without their data, and says what goes
/// where. Enters HDF5. Throws EnvironmentError.
std::vector<Piece> lay_out_rank_file(const std::filesystem::path& path, std::span<const PackedMember> members);

/// Writes the data, what `seal` says (hash and length are found out here), and gives the file its name when it is on
/// the disk. Any thread. Throws EnvironmentError. Reaches disk.write when half is written, and disk.rename.
void fill_rank_file(const std::filesystem::path& path, std::span<const Piece> pieces, FileSeal seal);

/// What the first lines of a file say. Any thread. Throws EnvironmentError: it cannot be read, or is no such file.
FileSeal read_seal(const std::filesystem::path& path);

/// What is wrong with a file that should be sealed like that: nothing, or "DIR/rank-0001.h5 is torn: ...". Checks every
/// byte. Any thread.
std::optional<std::string> find_damage(const std::filesystem::path& path, const FileSeal& expected);

/// A sealed file, to get members out of. Enters HDF5.
class RankFile {
 public:
  /// Throws EnvironmentError.
  explicit RankFile(std::filesystem::path path);
  ~RankFile();
  RankFile(RankFile&&) noexcept;

  /// A member that is not part of an array: its shape and bytes; nothing when there is none of that name. Throws
  /// EnvironmentError.
  struct Bytes {
    std::string shape;
    std::vector<std::byte> bytes;
  };
  std::optional<Bytes> read_member(std::string_view name) const;

  /// The names of the members that are no parts of arrays. Throws EnvironmentError.
  std::vector<std::string> names() const;

  /// Copies what the part of member `name` that is here, `stored`, has in common with `wanted` into the bytes of that.
  /// Throws EnvironmentError.
  void read_overlap(std::string_view name, const ArrayPart& stored, const ArrayPart& wanted,
                    std::span<std::byte> target) const;

 private:
  struct Open;
  std::filesystem::path path_;
  std::unique_ptr<Open> open_;
};

}  // namespace mend
