#include "framework/recovery/checkpoint_folder.hpp"

#include <fmt/format.h>

namespace mend {

std::string CheckpointFolder::advice() const {
  if (!options_) return "";
  const auto versions = complete_versions(options_->folder);
  if (versions.empty()) return "";
  return fmt::format("; version {} is on disk: start again with --mend-disk={}", versions.front().version.value,
                     options_->folder.string());
}

}  // namespace mend
