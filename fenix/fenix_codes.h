/* Fenix's return codes, roles and settings, with the names and values of Fenix as of 2026. C99 and C++. */

#ifndef MEND_FENIX_CODES_H
#define MEND_FENIX_CODES_H

/** The codes that functions return: errors are negative, warnings positive. */
typedef enum {
  FENIX_SUCCESS = 0,
  FENIX_ERROR_UNINITIALIZED = -100,
  FENIX_ERROR_NOCATEGORY,
  FENIX_ERROR_CALLBACK_NOT_REGISTERED,
  FENIX_ERROR_GROUP_CREATE,
  FENIX_ERROR_MEMBER_CREATE,
  FENIX_ERROR_MEMBER_EXISTS,
  FENIX_ERROR_MEMBER_STAGING, /**< the member is being staged by Fenix_Data_member_stage_begin */
  FENIX_ERROR_MEMBER_LOADING, /**< the member is being loaded by Fenix_Data_member_load_begin */
  FENIX_ERROR_COMMIT_BARRIER,
  FENIX_ERROR_INVALID_GROUPID,
  FENIX_ERROR_INVALID_MEMBERID,
  FENIX_ERROR_INVALID_LOGIC_CALL,
  FENIX_ERROR_INVALID_POLICY_NAME,
  FENIX_ERROR_INVALID_TIMESTAMP,
  FENIX_ERROR_INVALID_TIMESTART,
  FENIX_ERROR_INVALID_DEPTH,
  FENIX_ERROR_INVALID_ATTRIBUTE_NAME,
  FENIX_ERROR_INVALID_ATTRIBUTE_VALUE,
  FENIX_ERROR_INVALID_POSITION,
  FENIX_ERROR_INVALID_SUBSET,
  FENIX_ERROR_DATA_WAIT,
  FENIX_ERROR_SUBSET_NUM_BLOCKS,
  FENIX_ERROR_SUBSET_START_OFFSET,
  FENIX_ERROR_SUBSET_END_OFFSET,
  FENIX_ERROR_SUBSET_STRIDE,
  FENIX_ERROR_NODATA_FOUND,
  FENIX_ERROR_INTERN,
  FENIX_ERROR_CANCELLED, /**< interrupted by a failure, from which the job has recovered */
  FENIX_ERROR_INVALID_SETTING_NAME,
  FENIX_ERROR_INVALID_SETTING_OPTION,
  FENIX_ERROR_INVALID_MLOGID,
  FENIX_ERROR_MLOG_EXISTS,
  FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE,
  FENIX_ERROR_PROCESS_FAILURE,
  FENIX_ERROR_INVALID_POLICY_VALUE, /**< the policy's mode, or the size of its groups for so few ranks */
  FENIX_ERROR_MEMBER_UNSTORED,      /**< never returned: a commit takes also what was only staged */
  FENIX_WARNING_SPARE_RANKS_DEPLETED = 100,
  FENIX_WARNING_PARTIAL_RESTORE
} Fenix_Return_codes;
/* An earlier spelling. */
#define FENIX_ERROR_CALLBACK_NOT_REGISTERD FENIX_ERROR_CALLBACK_NOT_REGISTERED

typedef enum {
  FENIX_ROLE_INITIAL_RANK = 0,   /**< nothing has failed yet */
  FENIX_ROLE_RECOVERED_RANK = 1, /**< took over a rank in the most recent recovery */
  FENIX_ROLE_SURVIVOR_RANK = 2,  /**< had its rank before that recovery */
  FENIX_ROLE_SPARE_RANK = 3,     /**< waits as a spare, or was one when the job was over */
  FENIX_ROLE_MISSING_RANK = 4    /**< its process has died and was not replaced: the job continues with fewer ranks */
} Fenix_Rank_role;

typedef enum {
  FENIX_RECOVERY_MODE,
  FENIX_RESUME_MODE,
  FENIX_UNHANDLED_MODE,
  FENIX_CALLBACK_EXCEPTION_MODE,
  FENIX_MLOG_RECOVERY_MODE,
  FENIX_SPARE_WAIT_MODE,
  FENIX_SPARE_FINALIZE_MODE,
  FENIX_SETTING_NAME_MAXCODE
} Fenix_Setting_name;

typedef enum {
  FENIX_RECOVERY_IGNORE, /**< nothing is recovered: the call returns its error, or throws with FENIX_RESUME_THROW */
  FENIX_RECOVERY_NOOP,   /**< nothing is repaired, but callbacks are called and the program resumes */
  FENIX_RECOVERY_REPAIR, /**< spares take over; without spares the other ranks close up: the default */
  FENIX_RECOVERY_SPAWN,  /**< as REPAIR, but processes are started for the dead when no spare is left */
  FENIX_RECOVERY_MODE_MAXCODE
} Fenix_Recovery_mode;

/** How survivors continue. */
typedef enum {
  FENIX_RESUME_JUMP,   /**< they return from Fenix_Init, by longjmp: the default */
  FENIX_RESUME_RETURN, /**< the call that met the failure returns its error */
  FENIX_RESUME_THROW,  /**< it throws fenix::CommException */
  FENIX_RESUME_MODE_MAXCODE
} Fenix_Resume_mode;

/** How errors of MPI that are not process failures are handled. */
typedef enum {
  FENIX_UNHANDLED_SILENT, /**< the call returns its error */
  FENIX_UNHANDLED_PRINT,  /**< the call returns its error, and a message is written */
  FENIX_UNHANDLED_ABORT,  /**< the job ends: the default */
  FENIX_UNHANDLED_MODE_MAXCODE
} Fenix_Unhandled_mode;

/** How a fenix::CommException that leaves a callback is handled. */
typedef enum {
  FENIX_CALLBACK_EXCEPTION_RETHROW,
  FENIX_CALLBACK_EXCEPTION_SQUASH,
  FENIX_CALLBACK_EXCEPTION_MODE_MAXCODE
} Fenix_Callback_exception_mode;

/** How a failure is handled while a message log is active. */
typedef enum {
  FENIX_MLOG_RECOVERY_MANUAL,          /**< as without one, by FENIX_RESUME_MODE: the default */
  FENIX_MLOG_RECOVERY_INLINE,          /**< callbacks sync the logs; then the interrupted call continues */
  FENIX_MLOG_RECOVERY_INLINE_AUTOSYNC, /**< the same, but logs are synced after the callbacks */
  FENIX_MLOG_RECOVERY_MODE_MAXCODE
} Fenix_Mlog_recovery_mode;

/** How spares wait. Has no effect: spares use no CPU time here, and are called at once. */
typedef enum {
  FENIX_SPARE_WAIT_BUSY,
  FENIX_SPARE_WAIT_YIELD,
  FENIX_SPARE_WAIT_SLEEP,
  FENIX_SPARE_WAIT_MODE_MAXCODE
} Fenix_Spare_wait_mode;

/** What unused spares do when the job is over. To be set before Fenix_Init. */
typedef enum {
  FENIX_SPARE_FINALIZE_RELEASE, /**< they return from Fenix_Init as FENIX_ROLE_SPARE_RANK */
  FENIX_SPARE_FINALIZE_EXIT,    /**< they leave MPI and exit: the default */
  FENIX_SPARE_FINALIZE_MODE_MAXCODE
} Fenix_Spare_finalize_mode;

#endif
