#!/usr/bin/env bash
# lost-daemon-is-survivable
#
# When the daemon of a node is lost, mpirun ends every job, also those that are recoverable (proc_errors in PRRTE's
# errmgr_dvm.c). Here two daemons run on this machine under host names of their own, which needs unshare, and one process
# kills its daemon; the other two seconds later would still be there. Open MPI 5.0.x (PRRTE 3.0.x), 6.0.x; rewritten in
# PRRTE master (read, August 2026).
#
# runs: 1
# limit: 40
# hangs: mpirun does not end after the loss of a daemon

agent=$TMPDIR/agent
cat >"$agent" <<'AGENT'
#!/usr/bin/env bash
# Takes the place of ssh: runs the command here, under the host's name.
while [[ $1 == -* ]]; do shift; done
host=$1
shift
(($(id -u) == 0)) || user=(--user --map-root-user)
exec unshare "${user[@]}" --uts bash -c "hostname $host; $*"
AGENT
chmod +x "$agent"
if [[ $("$agent" mend-node-0 hostname 2>/dev/null) != mend-node-0 ]]; then
  echo "untestable: a process cannot have a host name of its own here (unshare --uts)"
  exit
fi
program=$TMPDIR/program
cat >"$program" <<PROGRAM
#!/usr/bin/env bash
touch "$TMPDIR/began"
sleep 1
if [[ \$(hostname) == mend-node-1 ]]; then kill -9 \$PPID; exit; fi
sleep 2
touch "$TMPDIR/went-on"
PROGRAM
chmod +x "$program"
"$1/bin/mpirun" --with-ft ulfm --prtemca state_base_recoverable 1 --prtemca plm ssh --prtemca plm_ssh_agent "$agent" \
  --prtemca plm_ssh_no_tree_spawn 1 --host mend-node-0:1,mend-node-1:1 --map-by slot -np 2 "$program" >&2
code=$?
if [[ ! -e $TMPDIR/began ]]; then
  echo "untestable: mpirun does not start a job"
elif [[ -e $TMPDIR/went-on ]]; then
  echo sound
else
  echo "defect: mpirun has ended the job, with exit code $code, when one of two daemons was killed"
fi
