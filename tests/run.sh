#!/usr/bin/env bash
# Sets up, checks the format of the sources, builds and runs the tests; then the unit tests of the library again with
# assertions, AddressSanitizer and UndefinedBehaviorSanitizer, and those of what has threads with ThreadSanitizer.
# Arguments go to ctest: tests/run.sh -R store. With --quick, only the first part, without the tests labelled "thorough":
# most of those that launch many jobs or kill for minutes, and those that compile every header. MEND_TEST_LONG=1 adds the
# tests labelled "long", with sanitizers the unit tests of Fenix's interface, the commands and the mini-apps, and with
# ThreadSanitizer whole jobs.

set -euo pipefail
unset CDPATH  # with it, cd may print
cd "$(dirname "${BASH_SOURCE[0]}")/.."

quick=false
if [[ ${1-} == --quick ]]; then
  quick=true
  shift
fi
case ${1-} in
  -h | --help)
    echo "Usage: tests/run.sh [--quick] [ctest arguments...], for example tests/run.sh -R store"
    exit 0
    ;;
esac

long=false
[[ ${MEND_TEST_LONG-} == 1 ]] && long=true

left_out=none
$quick && left_out+='|thorough'
$long || left_out+='|long'

announce() { printf '\n== %s (%s)\n' "$1" "$(date +%H:%M:%S)"; }

# Runs ctest with a preset; those that failed are named again at the end of the whole run, with the end of their output.
failed=()
run_tests() {
  local preset=$1 log=build/$1/Testing/Temporary
  rm -f "$log"/LastTestsFailed*.log
  ctest --preset "$preset" --parallel "$(nproc)" --label-exclude "^($left_out)\$" "${@:2}" && return
  failed+=("the tests of build/$preset, see $log/LastTest.log")
  [[ -f $log/LastTestsFailed.log ]] || return 0
  local name
  while IFS=: read -r _ name; do
    failed+=("$(printf '%s of build/%s:\n' "$name" "$preset"
      awk -v title=": $name" '
        /^[0-9]+\/[0-9]+ Test(ing)?: / { ours = substr($0, length($0) - length(title) + 1) == title }
        ours' "$log/LastTest.log" | tail -n 40)")
  done <"$log/LastTestsFailed.log"
}

announce "Building"
jobs/build.sh release
source build/environment.sh
tests/style.sh

# The tests say themselves how many of the machine's cores they want.
announce "Running the tests"
run_tests release "$@"

if ! $quick; then
  sanitized=core
  $long && sanitized=unit
  announce "Building the $sanitized tests with sanitizers"
  jobs/build.sh debug "${sanitized}_tests"
  announce "Running the $sanitized tests with sanitizers"
  run_tests debug --label-regex "^(core|$sanitized)\$" "$@"

  threaded=(base control_network detector_parts)
  threaded_targets=("${threaded[@]/#/test_}")
  regex="^($(IFS='|' && echo "${threaded[*]}"))\\."
  if $long; then
    # These have threads of MPI's and PMIx's beside their own. No races of those are found, so none is suppressed: that of
    # a library would also hide what mend does in its callbacks.
    with_mpi=(detector transport_mpi store_mpi framework_time_lines framework_mpi_calls)
    threaded_targets+=(mend_command "${with_mpi[@]/#/test_}" test_detector_deaths test_failing_calls_subject
      test_failing_calls_c_subject)
    regex+="|^($(IFS='|' && echo "${with_mpi[*]}"))\\.2_ranks$"
    regex+='|^framework_time_lines\.|^detector_deaths\.|^faults\.everything_once'
  fi
  announce "Building the tests of what has threads with ThreadSanitizer"
  jobs/build.sh tsan "${threaded_targets[@]}"
  announce "Running the tests of what has threads with ThreadSanitizer"
  rm -f build/tsan/race.*
  run_tests tsan "$@" --tests-regex "$regex"
  # Also of processes that were killed afterwards, whose exit code tells nothing.
  for race in build/tsan/race.*; do
    if [[ -f $race ]]; then failed+=("ThreadSanitizer, see $race: $(grep -m 1 '^SUMMARY' "$race" || true)"); fi
  done
fi

announce "Done"
if ((${#failed[@]} > 0)); then
  printf '\ntests/run.sh: failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
