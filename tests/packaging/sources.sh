#!/usr/bin/env bash
# The sources that packages are made of are those of the work tree, also where a file has been deleted or changed there.
set -euo pipefail
unset CDPATH  # with it, cd may print
fail() { echo "$1" >&2; exit 1; }

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/mend-sources-XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/copied" "$work/checkout" "$work/checkout/packaging"
cp "$checkout/packaging/copy_sources.sh" "$work/checkout/packaging"
cd "$work/checkout"
git init --quiet
for file in deleted changed 'with space' kept; do echo before >"$file"; done
git add .
rm deleted
echo after >changed
echo of somebody >unknown
packaging/copy_sources.sh ../copied || fail "the sources are not copied"
found=$(cd ../copied && find . -type f | LC_ALL=C sort | tr '\n' :)
[[ $found == './changed:./kept:./packaging/copy_sources.sh:./with space:' ]] || fail "copied were $found"
[[ $(<../copied/changed) == after ]] || fail "a changed file is copied as it was before"
