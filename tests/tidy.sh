#!/usr/bin/env bash
# Checks sources with clang-tidy, as .clang-tidy says. Without arguments it checks a few sources on which most of the
# others depend, which takes about a minute on two cores. --all checks all sources but those of tests, which takes long.
# Files as arguments: checks these. It needs build/environment.sh (jobs/setup.sh) and a configured build/release
# (jobs/build.sh release). It checks nothing where clang-tidy is not installed.

set -euo pipefail
unset CDPATH  # with it, cd may print
cd "$(dirname "${BASH_SOURCE[0]}")/.."

clang_tidy=$(command -v clang-tidy || command -v clang-tidy-14 || true)
if [[ -z $clang_tidy ]]; then
  echo "tidy: not checked, because clang-tidy is not installed"
  exit 0
fi
if [[ ! -f build/environment.sh ]]; then
  echo "tidy: build/environment.sh is missing: run jobs/setup.sh first, which makes it" >&2
  exit 1
fi
if [[ ! -d build/release ]]; then
  echo "tidy: build/release is missing: run jobs/build.sh release first" >&2
  exit 1
fi
source build/environment.sh

# In build/release, sources are compiled together, and have no commands of their own. A build folder remembers its MPI,
# so it must be configured afresh for another one.
configure=(cmake --preset release -B build/tidy -DMEND_UNITY=OFF)
cache=build/tidy/CMakeCache.txt
if [[ -f $cache ]] && ! grep -q "^MPI_CXX_COMPILER:.*=$MPI_HOME/bin/" "$cache"; then configure+=(--fresh); fi
CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja} "${configure[@]}" > build/configure-tidy.log
database=build/tidy/compile_commands.json

# Clang 14 and the standard library of GCC 12 have no std::source_location together: what uses base/assert.hpp cannot be
# read.
major=$("$clang_tidy" --version | sed -n 's/.*version \([0-9]*\).*/\1/p' | head -1)
readable() {
  if ((major >= 16)); then cat; else grep -v -E '^(base/assert|agreement/era/era)\.cpp$'; fi
}

case ${1-} in
  '') mapfile -t files < <(git ls-files | grep -E '^(spares|base|agreement/era)/[^/]*\.cpp$' | readable) ;;
  --all)
    if ((major < 16)); then
      echo "tidy: not all sources can be checked with clang-tidy $major: 16 or later is needed" >&2
      exit 1
    fi
    mapfile -t files < <(git ls-files '*.cpp' | grep -v -E '^tests/')
    ;;
  *) files=("$@") ;;
esac

# GCC's precompiled headers and parameters are not Clang's.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sed -E 's/-Winvalid-pch//g; s/--param=[^ ]*//g; s/-include [^ ]*cmake_pch\.hxx//g' "$database" \
  > "$folder/compile_commands.json"

if ! printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" "$clang_tidy" -p "$folder" --quiet --warnings-as-errors='*' 2> "$folder/noise"; then
  grep -v 'warnings\? generated\|Suppressed\|Use -header-filter' "$folder/noise" >&2 || true
  echo "tidy: some sources do not pass; the lines above say why" >&2
  exit 1
fi
echo "tidy: ${#files[@]} sources pass"
