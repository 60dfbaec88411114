#!/usr/bin/env bash
# Shows two solvers that survive kill -9: each runs undisturbed, then with deaths, and every run must end with the same
# answer, to the last bit. Sets up and builds what is missing. Results and pictures are left in out/.

set -euo pipefail
unset CDPATH  # with it, cd may print
cd "$(dirname "${BASH_SOURCE[0]}")/.."

ranks=4
spares=2
# With four ranks, ranks 0 and 2 do not keep each other's copies, so both may die at once.
scenarios=(
  "nobody dies|"
  "a rank is killed|--kill 2@40"
  "rank 0 is killed|--kill 0@40"
  "two are killed at once|--kill 0@40 --kill 2@40"
  "one is killed, and another during the recovery from that|--kill 2@40 --kill 0@40:recovery"
)

jobs/build.sh release mend_command stencil minife
mkdir -p out
bin=build/release/bin

# All differences are shown; the exit code reports that there was one.
failures=0
fail() {
  echo "demo: FAILED: $*" >&2
  failures=$((failures + 1))
}

run_scenario() {
  local app=$1 steps=$2 number=$3 title=$4
  read -r -a kills <<<"$5"
  local name=out/$app-$number
  printf '\n%s: %s\n' "$app" "$title"
  local line=("$bin/mend" run -n $ranks --spares $spares -- "$bin/$app" --steps "$steps" "${kills[@]}"
    --result "$name.json" --plot "$name.png")
  echo "  ${line[*]}"
  rm -f "$name".*
  if ! timeout 60 "${line[@]}" >"$name.log" 2>&1 </dev/null; then
    tail -n 20 "$name.log" >&2
    fail "$app, $title: the run did not finish; its output is $name.log"
    return
  fi
  local compare=() killed=0
  if ((number > 0)); then
    compare=(--same-as "out/$app-0.json")
    cmp --silent "$name.png" "out/$app-0.png" || fail "$app, $title: the pictures differ"
  fi
  "$bin/mend" report "$name.json" "${compare[@]}" >"$name.report" || fail "$app, $title: the results differ"
  sed 's/^/  /' "$name.report"
  # A run without deaths would prove nothing.
  [[ ! -f $name.json.kills ]] || killed=$(wc -l <"$name.json.kills")
  ((2 * killed == ${#kills[@]})) || fail "$app, $title: $killed were killed, $((${#kills[@]} / 2)) should have been"
  if ((killed > 0)) && grep -q ' 0 recoveries' "$name.report"; then fail "$app, $title: nothing was recovered from"; fi
}

for app in minife stencil; do
  steps=80
  number=0
  for scenario in "${scenarios[@]}"; do
    run_scenario "$app" "$steps" $number "${scenario%%|*}" "${scenario#*|}"
    number=$((number + 1))
  done
done

printf '\nPictures, results and logs are in out/: minife-0.png is the undisturbed run, the others had deaths.\n'
if ((failures > 0)); then
  echo "demo: $failures comparisons failed" >&2
  exit 1
fi
echo "demo: every run ended with the same answer as the undisturbed one, to the last bit"
