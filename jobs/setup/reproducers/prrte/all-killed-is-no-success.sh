#!/usr/bin/env bash
# all-killed-is-no-success
#
# A recoverable job whose processes were all killed ends with exit code 0: check_complete in PRRTE's state_dvm.c looks at
# exit codes that only processes which ended by themselves have set. Who launches such a job takes it for one that
# succeeded. Open MPI 5.0.x (PRRTE 3.0.x), 6.0.x and PRRTE master (read, August 2026).
#
# runs: 1
# limit: 20

"$1/bin/mpirun" --with-ft ulfm --map-by :OVERSUBSCRIBE -np 1 true >/dev/null 2>&1 || {
  echo "untestable: mpirun does not start a job"
  exit
}
"$1/bin/mpirun" --with-ft ulfm --prtemca state_base_recoverable 1 --map-by :OVERSUBSCRIBE -np 2 sh -c 'kill -9 $$' >&2
code=$?
if ((code == 0)); then echo "defect: every process was killed, and mpirun's exit code is 0"; else echo sound; fi
