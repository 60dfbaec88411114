#!/usr/bin/env bash
# Sets up and builds mend: jobs/build.sh [preset [target...]]. The default preset is release; without targets,
# everything is built. The result is in build/PRESET, programs in build/PRESET/bin.

set -euo pipefail
unset CDPATH  # with it, cd may print
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:-release}
targets=("${@:2}")

jobs/setup.sh
source build/environment.sh

# A build folder remembers its MPI, so it must be configured afresh for another one.
configure=(cmake --preset "$preset")
cache=build/$preset/CMakeCache.txt
if [[ -f $cache ]] && ! grep -qF "=$MPI_HOME/bin/" <(grep "^MPI_CXX_COMPILER:" "$cache"); then configure+=(--fresh); fi

# The presets name no generator. The set-up installs Ninja.
export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
echo "build: configuring build/$preset (log: build/configure-$preset.log)"
if ! "${configure[@]}" >"build/configure-$preset.log" 2>&1; then
  tail -n 30 "build/configure-$preset.log" >&2
  echo "build: could not be configured; the whole log is build/configure-$preset.log" >&2
  exit 1
fi
echo "build: compiling ${targets[*]:-everything}; up to a few minutes the first time"
cmake --build "build/$preset" ${targets[@]:+--target "${targets[@]}"} --parallel "$(nproc)"
