// Common code of the reproducers of PMIx.

#pragma once

#include "reproducer.h"

// Initialises PMIx alone, as MPI_Init does.
static inline void begin_pmix(void) {
  end_with_launcher(60);
  pmix_proc_t self;
  if (PMIx_Init(&self, NULL, 0) != PMIX_SUCCESS) untestable("PMIx_Init has failed");
  rank = (int)self.rank;
}

static inline pmix_status_t fence(bool collect) {
  pmix_proc_t all = myself();
  all.rank = PMIX_RANK_WILDCARD;
  pmix_info_t info;
  PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
  return PMIx_Fence(&all, 1, &info, 1);
}

// Deaths that were reported to this process.
static volatile int told_of[64];
static volatile double told_at[64];

static void note_death(size_t handler, pmix_status_t status, const pmix_proc_t* source, pmix_info_t info[], size_t infos,
                       pmix_info_t results[], size_t count, pmix_event_notification_cbfunc_fn_t done, void* data) {
  (void)handler, (void)status, (void)source, (void)results, (void)count;
  for (size_t i = 0; i < infos; ++i) {
    if (!PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC)) continue;
    const pmix_rank_t dead = info[i].value.data.proc->rank;
    if (dead >= 64) continue;
    told_at[dead] = seconds();
    told_of[dead] = 1;
  }
  if (done != NULL) done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static inline void listen_for_deaths(void) {
  pmix_status_t codes[] = {PMIX_ERR_PROC_TERM_WO_SYNC, PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_PROC_ABORTED};
  PMIx_Register_event_handler(codes, 3, NULL, 0, note_death, NULL, NULL);
}

// Dies so that the daemon learns it from the kernel, before the connection drops: a child holds it open for a while.
static inline void die_before_connection(void) {
  if (fork() == 0) {
    for (int stream = 0; stream < 3; ++stream) close(stream);  // mpirun waits for their end
    prctl(PR_SET_PDEATHSIG, 0);
    alarm(4);
    pause();
  }
  die();
}
