#!/usr/bin/env bash
# exits-are-counted-once
#
# proc_errors in PRRTE's errmgr_dvm.c counts a process that returns an error as terminated when it hears of the error, and
# the process is counted again when it is gone. So the end of such a job is dealt with twice, the second time possibly
# with a record that has been released: mpirun hangs, or dies of SIGABRT or SIGSEGV, after some of a hundred jobs on a
# busy machine. Here a hundred jobs of eight processes that return 1, beside two processes that keep the machine busy.
# Open MPI 5.0.x (PRRTE 3.0.x; read in August 2026); fixed in PRRTE 4.1.
#
# runs: 1
# limit: 120
# hangs: a job of processes that return 1 does not end in 120 s

busy() { while :; do :; done; }
busy & first=$!
busy & second=$!
trap 'kill $first $second 2>/dev/null' EXIT
for ((job = 1; job <= 100; ++job)); do
  timeout --foreground 10 "$1/bin/mpirun" --with-ft ulfm --prtemca state_base_recoverable 1 --map-by :OVERSUBSCRIBE -np 8 \
    sh -c 'exit 1' >/dev/null 2>&1
  code=$?
  case $code in
    1) ;;
    124) echo "defect: mpirun of job $job does not end"; exit ;;
    *) echo "defect: mpirun of job $job has ended with $code instead of 1"; exit ;;
  esac
done
echo sound
