// The settings of the application, made before or after Fenix_Init.

#pragma once

#include "fenix/fenix.h"

namespace mend::fenix {

struct Settings {
  Fenix_Recovery_mode recovery = FENIX_RECOVERY_REPAIR;
  Fenix_Resume_mode resume = FENIX_RESUME_JUMP;
  Fenix_Unhandled_mode unhandled = FENIX_UNHANDLED_ABORT;
  Fenix_Callback_exception_mode callback_exception = FENIX_CALLBACK_EXCEPTION_RETHROW;
  Fenix_Mlog_recovery_mode mlog_recovery = FENIX_MLOG_RECOVERY_MANUAL;
  Fenix_Spare_wait_mode spare_wait = FENIX_SPARE_WAIT_BUSY;
  Fenix_Spare_finalize_mode spare_finalize = FENIX_SPARE_FINALIZE_EXIT;
  bool accumulates_snapshots = false;  ///< as in Fenix 1.0: a snapshot has all elements that were ever stored
  bool finds_any_time_stamp = false;   ///< as in Fenix 1.0: one that no snapshot has means the newest
  bool is_for_1_0 = false;             ///< the program calls Fenix_Init with the arguments of 1.0
};

Settings& settings();

}  // namespace mend::fenix
