// The folder of --mend-disk: which versions are in it, and what a version consists of.
//
//   DIR/version-0000000040-5b1f93ac/     the number of the commit, and one of this attempt to write it
//         rank-00000.h5 ...              a snapshot each (store/disk/rank_file.hpp)
//         arrays.h5, arrays.xdmf         what makes them one to look at (store/restore/array_index.hpp)
//         manifest.json                  written last: without it, the version is none
//
// The manifest names every file with its length and hash, so that no file of another attempt or another job can pass
// for one of this version.

#pragma once

#include "base/ids.hpp"
#include "store/restore/array_index.hpp"
#include "store/disk/rank_file.hpp"
#include "store/store_options.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mend {

/// Makes the folder if there is none, and tries whether it can be written to. Throws UsageError, with a sentence, if
/// not. Local.
void prepare_folder(const std::filesystem::path& folder);

/// Throws UsageError, with a sentence, for the name of a member that is not UTF-8: manifests are, and descriptions for
/// viewers.
void require_name_for_disk(std::string_view name);

/// All there is to know of a version on disk.
struct Manifest {
  Version version;
  std::vector<FileSeal> files;  ///< by rank
  std::vector<Parts> parts;     ///< by rank: what of which array is in the file

  int ranks() const { return static_cast<int>(files.size()); }
};
/// The names of members must be such as require_name_for_disk lets pass.
std::string to_text(const Manifest& manifest);
/// Throws EnvironmentError when `text` is damaged or was not written by to_text; `name` is what the sentence calls it.
Manifest parse_manifest(std::string_view text, const std::string& name);

inline constexpr const char* manifest_name = "manifest.json";
inline constexpr const char* index_name = "arrays.h5";
inline constexpr const char* viewers_name = "arrays.xdmf";

/// Where this attempt to write a version goes.
std::filesystem::path folder_of(const std::filesystem::path& disk, Version version, std::uint32_t attempt);

/// A folder of a version that has a manifest.
struct CompleteVersion {
  Version version;
  std::filesystem::path folder;
};
/// Newest first; nothing when the folder cannot be read. What has another name than a version is passed over.
std::vector<CompleteVersion> complete_versions(const std::filesystem::path& disk);

/// Removes all versions but the newest complete ones, so many of them; what is incomplete must be given up. Throws
/// EnvironmentError.
void remove_old_versions(const std::filesystem::path& disk, std::size_t kept);

/// Renames all complete versions newer than this, so that none is taken for the newest. Throws EnvironmentError.
void put_newer_aside(const std::filesystem::path& disk, Version newest);

}  // namespace mend
