// Flags that a rank adds to its vote in the ballot that opens a commit or a restore. The outcome has the flags that all
// ranks have set.

#pragma once

#include "agreement/ballot.hpp"

namespace mend {

enum Remark : agreement::Remarks {
  // of the disk, store/disk/disk_tier.cpp
  at_leisure = 1 << 0,  ///< nothing is being done in the background
  well = 1 << 1,        ///< nothing has gone wrong
  due = 1 << 2,         ///< enough commits since the last version on disk
  ours = 1 << 3,        ///< nobody else's versions are in the folder
  // of the members, store/store_engine.cpp
  arrays_are_agreed = 1 << 4,  ///< the arrays that this rank has parts of are those that all agreed on
  can_be_packed = 1 << 5,      ///< the members say what they are
  gives_up_its_data = 1 << 6,  ///< of a restore: this rank is filled, too
  nothing_asked = 1 << 6,      ///< of a commit: nobody has asked this rank for a version on disk, or to leave
  knows_all_groups = 1 << 7,
  // one of three, so that all hear none of them when ranks differ
  has_restored_0_mod_3 = 1 << 8,  ///< how many restores of this rank have met nobody since the last ballot
  has_restored_1_mod_3 = 1 << 9,
  has_restored_2_mod_3 = 1 << 10,
};
inline constexpr agreement::Remarks has_restored_as_often =
    has_restored_0_mod_3 | has_restored_1_mod_3 | has_restored_2_mod_3;

}  // namespace mend
