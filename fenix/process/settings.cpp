// Fenix's settings. Each is a number below the MAXCODE of its kind.

#include "fenix/process/settings.hpp"

mend::fenix::Settings& mend::fenix::settings() {
  static Settings instance;
  return instance;
}

namespace {

using mend::fenix::settings;

template <class Mode>
int set(Mode& mode, unsigned option, Mode end) {
  if (option >= static_cast<unsigned>(end)) return FENIX_ERROR_INVALID_SETTING_OPTION;
  mode = static_cast<Mode>(option);
  return FENIX_SUCCESS;
}

}  // namespace

int Fenix_set_option(Fenix_Setting_name setting, unsigned option) {
  auto& now = settings();
  switch (setting) {
    case FENIX_RECOVERY_MODE: return set(now.recovery, option, FENIX_RECOVERY_MODE_MAXCODE);
    case FENIX_RESUME_MODE: return set(now.resume, option, FENIX_RESUME_MODE_MAXCODE);
    case FENIX_UNHANDLED_MODE: return set(now.unhandled, option, FENIX_UNHANDLED_MODE_MAXCODE);
    case FENIX_CALLBACK_EXCEPTION_MODE:
      return set(now.callback_exception, option, FENIX_CALLBACK_EXCEPTION_MODE_MAXCODE);
    case FENIX_MLOG_RECOVERY_MODE: return set(now.mlog_recovery, option, FENIX_MLOG_RECOVERY_MODE_MAXCODE);
    case FENIX_SPARE_WAIT_MODE: return set(now.spare_wait, option, FENIX_SPARE_WAIT_MODE_MAXCODE);
    case FENIX_SPARE_FINALIZE_MODE: return set(now.spare_finalize, option, FENIX_SPARE_FINALIZE_MODE_MAXCODE);
    default: return FENIX_ERROR_INVALID_SETTING_NAME;
  }
}

int Fenix_get_option(Fenix_Setting_name setting, unsigned* option) {
  const auto& now = settings();
  switch (setting) {
    case FENIX_RECOVERY_MODE: *option = now.recovery; return FENIX_SUCCESS;
    case FENIX_RESUME_MODE: *option = now.resume; return FENIX_SUCCESS;
    case FENIX_UNHANDLED_MODE: *option = now.unhandled; return FENIX_SUCCESS;
    case FENIX_CALLBACK_EXCEPTION_MODE: *option = now.callback_exception; return FENIX_SUCCESS;
    case FENIX_MLOG_RECOVERY_MODE: *option = now.mlog_recovery; return FENIX_SUCCESS;
    case FENIX_SPARE_WAIT_MODE: *option = now.spare_wait; return FENIX_SUCCESS;
    case FENIX_SPARE_FINALIZE_MODE: *option = now.spare_finalize; return FENIX_SUCCESS;
    default: return FENIX_ERROR_INVALID_SETTING_NAME;
  }
}

void mend_fenix_accumulate_snapshots(int accumulate) {
  settings().accumulates_snapshots = accumulate != 0;
  settings().finds_any_time_stamp = accumulate != 0;
  settings().is_for_1_0 = accumulate == 2;
}
