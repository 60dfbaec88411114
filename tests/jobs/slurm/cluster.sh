#!/usr/bin/env bash
# A Slurm of two nodes that one machine plays: network namespaces with hosts' names of their own
# (tests/faults/emulated_nodes.sh). Needs root, slurm-wlm and munge.
#
#   cluster.sh up NAME FOLDER       starts the daemons; all they write, and slurm.conf, is in FOLDER. Nodes: NAME-0, NAME-1
#   cluster.sh ask NAME FOLDER COMMAND...   runs a command of Slurm's beside its controller
#   cluster.sh lose NAME FOLDER NODE        kills all that runs on node number NODE, its daemon too
#   cluster.sh return NAME FOLDER NODE      starts its daemon again
#   cluster.sh down NAME FOLDER

set -euo pipefail

name=$2 folder=$3
nodes=("$name-0" "$name-1")
emulated=$(dirname "${BASH_SOURCE[0]}")/../../faults/emulated_nodes.sh
export SLURM_CONF=$folder/slurm.conf

# cred_expire: a job that is launched anew waits for so long, two minutes by default. If it were started earlier, a node
# might take it for the launch before, and end it.
configuration() {
  cat <<EOF
ClusterName=$name
SlurmctldHost=$name-head(10.99.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket,cred_expire=5
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1
SlurmdTimeout=10
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=1
MailProg=/bin/true
NodeName=${nodes[0]} NodeAddr=10.99.0.2 CPUs=4
NodeName=${nodes[1]} NodeAddr=10.99.0.3 CPUs=4
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
}

# Not by `ip netns exec`, which hides the control groups that slurmd wants to see.
on() { nsenter --net="/run/netns/$1" unshare --uts bash -c "hostname $1; exec \"\$@\"" "$@"; }
ask() { on "$name-head" "$@"; }
idle_nodes() { ask sinfo --noheader --Node --states=idle --format=%N 2>/dev/null | wc -l; }

up() {
  mkdir -p "$folder/state"
  head -c 1024 /dev/urandom >"$folder/munge.key"
  chmod 400 "$folder/munge.key"
  configuration >"$folder/slurm.conf"
  "$emulated" up "$name" "${#nodes[@]}"
  munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
    --log-file="$folder/munged.log" --seed-file="$folder/munge.seed"
  on "$name-head" slurmctld
  local node deadline=$((SECONDS + 30))
  for node in "${nodes[@]}"; do on "$node" slurmd; done
  until (($(idle_nodes) == ${#nodes[@]})); do
    ((SECONDS < deadline)) || { tail -n 20 "$folder"/*.log >&2; exit 1; }
    sleep 0.1
  done
}

down() {
  "$emulated" down "$name" "${#nodes[@]}"
  kill -9 "$(cat "$folder/munged.pid")" 2>/dev/null || true
}

case $1 in
  up | down) "$1" ;;
  ask) shift 3 && ask "$@" ;;
  lose) "$emulated" kill "$name" "$4" ;;
  return) on "$name-$4" slurmd ;;
esac
