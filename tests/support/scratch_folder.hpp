// A folder for the files of one test.

#pragma once

#include "base/files/scratch_folder.hpp"

namespace support {

class ScratchFolder : public mend::ScratchFolder {
 public:
  ScratchFolder() : mend::ScratchFolder("mend-test") {}
  std::filesystem::path operator/(const std::string& name) const { return path() / name; }
};

}  // namespace support
