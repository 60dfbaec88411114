// Flags that a rank adds to its vote in the ballot that opens a commit or a restore. The outcome has the flags that all
// ranks have set.

#pragma once

#include "agreement/ballot.hpp"

namespace mend {

enum Remark : agreement::Remarks {
  // of the disk (store/disk/disk_tier.cpp)
  disk_is_idle = 1 << 0,    ///< no work runs in the background
  disk_is_well = 1 << 1,    ///< no error has occurred
  version_is_due = 1 << 2,  ///< enough commits since the last version on disk
  folder_is_ours = 1 << 3,  ///< the folder has versions of this job only
  // of the members (store/engine/store_engine.cpp)
  arrays_are_agreed = 1 << 4,  ///< this rank's arrays are those that all ranks agreed on
  can_be_packed = 1 << 5,      ///< the members can report their shapes and sizes
  gives_up_its_data = 1 << 6,  ///< restore only: this rank's members are filled
  nothing_asked = 1 << 6,      ///< commit only: this rank was asked neither for a version on disk nor to leave
  knows_all_groups = 1 << 7,
  // Each rank sets one of the three. If ranks set different ones, the outcome has none.
  has_restored_0_mod_3 = 1 << 8,  ///< the number of restores since the last ballot that needed no ballot, modulo 3
  has_restored_1_mod_3 = 1 << 9,
  has_restored_2_mod_3 = 1 << 10,
};
inline constexpr agreement::Remarks has_restored_as_often =
    has_restored_0_mod_3 | has_restored_1_mod_3 | has_restored_2_mod_3;

}  // namespace mend
