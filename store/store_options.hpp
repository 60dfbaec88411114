// The options of a job's store other than the redundancy (store/redundancy.hpp).

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace mend {

/// Selects the commits that go to disk, and the folder (--mend-disk).
struct DiskOptions {
  std::filesystem::path folder;
  int every = 10;  ///< commits from one version on disk to the next, 1 or more
  bool operator==(const DiskOptions&) const = default;

  /// Parses "DIR" or "DIR,every=N". DIR must not end in ",key=value", which would be a misspelt option. Throws
  /// UsageError for anything else. Local.
  static DiskOptions parse(std::string_view text);
};

/// The method by which a commit finds the changes in its members (--mend-find-changes).
enum class FindChanges : std::uint8_t {
  automatic,  ///< "auto": by_writes, unless something may write into this process's memory unseen by the kernel
  by_hash,    ///< "hash": reads all data and compares hashes
  by_writes   ///< "writes": asks the kernel which pages were written; for data that changes little
};

}  // namespace mend
