// dead-clients-are-not-listened-to
//
// A daemon that learns of a process's death from the kernel closes the connection to it (remove_client in
// pmix_server.c), and leaves its events registered with libevent. When another process connects, and gets the same
// descriptor, its messages are attributed to the dead process, or not read: it waits for ever in PMIx_Init, or the
// daemon hangs on freed memory. One in 20 to 200 jobs in which two processes die and others are started. The events go
// with the daemon's last reference to the process, but a process that has registered for events, as every MPI process
// does, is kept by the list of them. Here eight processes that have registered die; a child of each holds the
// connection open, so that the report of the kernel always comes first; and ten processes are started. Open MPI 5.0.x
// (PMIx 5.0.x), 6.0.x and PMIx master (read, August 2026).
//
// processes: 9
// runs: 1
// limit: 15
// hangs: a process that is started after a death does not get through PMIx_Init
// ends: the daemon has ended

#include "pmix_reproducer.h"

int main(int argc, char** argv) {
  if (argc > 1) {  // started by rank 0: has come through when its file is there
    begin_pmix();
    FILE* file = fopen(argv[1], "w");
    if (file != NULL) fclose(file);
    pause_ms(5000);
    return 0;
  }
  begin_pmix();
  listen_for_deaths();
  fence(false);
  if (rank > 0) die_before_connection();
  pause_ms(1000);
  for (int i = 0; i < 10; ++i) {
    char path[4096], name[4200];
    snprintf(name, sizeof name, "%s/started-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", i);
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length < 0 ? 0 : length] = '\0';
    pmix_app_t app;
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup(path);
    app.maxprocs = 1;
    app.argv = calloc(3, sizeof *app.argv);
    app.argv[0] = strdup(path);
    app.argv[1] = strdup(name);
    pmix_nspace_t space;
    if (PMIx_Spawn(NULL, 0, &app, 1, space) != PMIX_SUCCESS) untestable("PMIx_Spawn has failed");
    while (access(name, F_OK) != 0) pause_ms(5);
  }
  sound();
}
