// The folder of --mend-disk: the versions in it, and the files of a version.
//
//   DIR/version-0000000040-5b1f93ac/     the number of the commit, and a number of this attempt
//         rank-00000.h5 ...              a snapshot each (store/disk/rank_file.hpp)
//         arrays.h5, arrays.xdmf         show the files as one (store/restore/array_index.hpp)
//         manifest.json                  written last: a folder without it is not a version
//
// The manifest names every file with its length and hash, so that no file of another attempt or another job can be
// taken for a file of this version.

#pragma once

#include "base/ids.hpp"
#include "store/restore/array_index.hpp"
#include "store/disk/rank_file.hpp"
#include "store/store_options.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace mend {

/// Makes the folder if it does not exist, and checks that it can be written to. Throws UsageError if not. Local.
void prepare_folder(const std::filesystem::path& folder);

/// Throws UsageError if the name of a member is not UTF-8. Manifests and the descriptions for viewers must be UTF-8.
void require_name_for_disk(std::string_view name);

/// The description of a version on disk.
struct Manifest {
  Version version;
  std::vector<FileSeal> files;  ///< by rank
  std::vector<Parts> parts;     ///< by rank: the parts of arrays in the file

  int ranks() const { return static_cast<int>(files.size()); }
};
/// The names of members must satisfy require_name_for_disk.
std::string to_text(const Manifest& manifest);
/// Throws EnvironmentError if `text` is damaged or was not written by to_text. `name`: the name of the file in the
/// error message.
Manifest parse_manifest(std::string_view text, const std::string& name);

inline constexpr const char* manifest_name = "manifest.json";
inline constexpr const char* index_name = "arrays.h5";
inline constexpr const char* viewers_name = "arrays.xdmf";

/// Returns the folder for one attempt to write a version.
std::filesystem::path folder_of(const std::filesystem::path& disk, Version version, std::uint32_t attempt);

/// A version that has a manifest, and its folder.
struct CompleteVersion {
  Version version;
  std::filesystem::path folder;
};
/// Returns all complete versions, newest first, and versions of which the system cannot say whether they have a
/// manifest. Ignores files with other names. Sets `error` if the folder cannot be read to its end.
std::vector<CompleteVersion> complete_versions(const std::filesystem::path& disk, std::error_code& error);
/// The same for callers that only inform: as far as the folder can be read.
std::vector<CompleteVersion> complete_versions(const std::filesystem::path& disk);

/// Removes all versions but the `kept` newest complete ones, and those of which the system cannot say whether they are
/// complete. Incomplete versions must have been given up. Throws EnvironmentError.
void remove_old_versions(const std::filesystem::path& disk, std::size_t kept);

/// Renames all complete versions newer than `newest`, so that they are not restored. Throws EnvironmentError.
void put_newer_aside(const std::filesystem::path& disk, Version newest);

}  // namespace mend
