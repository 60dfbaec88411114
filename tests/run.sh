#!/usr/bin/env bash
# Sets up, checks the format of the sources, builds and runs every test; then the unit tests again with assertions,
# AddressSanitizer and UndefinedBehaviorSanitizer, and those of what has threads with ThreadSanitizer. Arguments go to
# ctest: tests/run.sh -R store. With --quick, only the first part.

set -euo pipefail
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

announce() { printf '\n== %s (%s)\n' "$1" "$(date +%H:%M:%S)"; }

announce "Building"
jobs/build.sh release
source build/environment.sh
tests/style.sh

# The tests say themselves how many of the machine's cores they want.
announce "Running every test"
failed=0
ctest --preset release --parallel "$(nproc)" "$@" || failed=1

if ! $quick; then
  announce "Building the unit tests with sanitizers"
  jobs/build.sh debug unit_tests
  announce "Running the unit tests with sanitizers"
  ctest --preset debug --parallel "$(nproc)" --label-regex '^unit$' "$@" || failed=1

  threaded=(base control_network detector_parts)
  with_mpi=(detector transport_mpi)  # which have threads of MPI's and PMIx's beside their own
  regex="^($(IFS='|' && echo "${threaded[*]}"))\\.|^($(IFS='|' && echo "${with_mpi[*]}"))\\.2_ranks$"
  announce "Building the tests of what has threads with ThreadSanitizer"
  jobs/build.sh tsan mend_command "${threaded[@]/#/test_}" "${with_mpi[@]/#/test_}"
  announce "Running the tests of what has threads with ThreadSanitizer"
  ctest --preset tsan --parallel "$(nproc)" "$@" --tests-regex "$regex" || failed=1
fi

announce "Done"
((failed == 0)) || echo "tests/run.sh: some tests failed; the summaries above name them" >&2
exit $failed
