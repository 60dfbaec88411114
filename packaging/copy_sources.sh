#!/usr/bin/env bash
# Copies what belongs to the checkout, as it is in the work tree, into a folder: packaging/copy_sources.sh FOLDER

set -euo pipefail
unset CDPATH  # with it, cd may print
export LC_ALL=C
target=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Without the files that are deleted in the work tree alone, which tar would look for.
files=$target/.files
git ls-files -z | sort -zu >"$files"
git ls-files -z --deleted | sort -zu | comm -z -23 "$files" - | tar --create --null --files-from - |
  tar --extract --directory "$target"
rm "$files"
