#!/usr/bin/env bash
# exits-are-counted-once
#
# proc_errors in PRRTE's errmgr_dvm.c counts a process that returns an error as terminated when it hears of the error, and
# the process is counted again when it is gone. So the end of such a job is dealt with twice, the second time possibly
# with a record that has been released: mpirun hangs, or dies of SIGABRT or SIGSEGV, after some of a hundred jobs on a
# busy machine. Here up to a hundred jobs of eight processes that return 1, for at most 30 s, four at a time to keep the
# machine busy. Open MPI 5.0.x (PRRTE 3.0.x; read in August 2026); fixed in PRRTE 4.1.
#
# runs: 3
# limit: 80

"$1/bin/mpirun" --with-ft ulfm --map-by :OVERSUBSCRIBE -np 1 true >/dev/null 2>&1 || {
  echo "untestable: mpirun does not start a job"
  exit
}
one_of_four() {
  for ((job = 0; job < 25 && SECONDS < 30; ++job)); do
    timeout --foreground -k 2 15 "$1/bin/mpirun" --with-ft ulfm --prtemca state_base_recoverable 1 --map-by :OVERSUBSCRIBE \
      -np 8 sh -c 'exit 1' >/dev/null 2>&1
    echo $?
  done
}
for queue in 1 2 3 4; do one_of_four "$1" >"$TMPDIR/codes-$queue" & done
wait
read -r jobs hung other < <(cat "$TMPDIR"/codes-* | awk '{ ++jobs } $1 == 124 || $1 == 137 { ++hung } $1 != 124 && $1 != 137 && $1 != 1 { ++other }
  END { print jobs + 0, hung + 0, other + 0 }')
echo "$jobs jobs" >&2
if ((hung + other > 0)); then
  echo "defect: of $jobs jobs, mpirun did not end in $hung, and ended with another code than 1 in $other"
else
  echo sound
fi
