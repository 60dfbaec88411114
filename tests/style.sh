#!/usr/bin/env bash
# Checks that the sources are formatted as .clang-format says, with the version that Debian 12 has: others format
# differently. tests/style.sh --fix formats them.

set -euo pipefail
unset CDPATH  # with it, cd may print
cd "$(dirname "${BASH_SOURCE[0]}")/.."

wanted=14
clang_format=$(command -v clang-format-$wanted || command -v clang-format || true)
version=$([[ -z $clang_format ]] || "$clang_format" --version | sed 's/.*version \([0-9]*\).*/\1/')
if [[ $version != "$wanted" ]]; then
  echo "style: not checked, because clang-format $wanted is not installed"
  exit 0
fi

mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp' '*.c')
if [[ ${1-} == --fix ]]; then
  "$clang_format" -i "${files[@]}"
elif ! "$clang_format" --dry-run --Werror "${files[@]}"; then
  echo "style: some sources are not formatted; tests/style.sh --fix does it" >&2
  exit 1
else
  echo "style: ${#files[@]} sources are formatted as they should be"
fi
