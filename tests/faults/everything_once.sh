#!/usr/bin/env bash
# Runs a program in which everything happens once that mend has threads for: a start, commits in memory and to disk, a
# recovery by a spare, one by a process that is started, traces, an end.
#     everything_once.sh MEND PROGRAM [OPTION...]

set -euo pipefail
mend=$1
program=$2

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$mend" run -n 3 --spares 1 -- "$program" 1@4 3@8 --mend-on-failure=spare,spawn --mend-redundancy=replicas:2 \
  --mend-commit-every=2 --mend-disk="$scratch/disk,every=2" --mend-trace="$scratch/trace" "${@:3}" |
  tee "$scratch/output"
for rank in 0 1 2; do
  grep -q "^rank $rank: total 234 and 1092" "$scratch/output"
done
