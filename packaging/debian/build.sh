#!/usr/bin/env bash
# Builds the Debian packages mend and libmend-dev: see packaging/debian/build.sh --help.

set -euo pipefail
unset CDPATH  # with it, cd may print
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$(dirname "$here")")

usage() {
  cat <<END
Usage: packaging/debian/build.sh [FOLDER]

Builds the Debian packages mend and libmend-dev of this checkout, and leaves them in FOLDER (default: out/debian), in the
place of earlier ones. If lintian is installed, they are checked; with MEND_TEST_LONG=1, lintian is needed. Needs
dpkg-dev, debhelper and what docs/dependencies.md lists for building.

The packages are for one Open MPI: that of MPI_HOME, or of build/environment.sh (jobs/setup.sh), or Debian's own.
DEBFULLNAME and DEBEMAIL name who builds them.
END
}

refuse() { printf 'packaging/debian/build.sh: %s\n' "$1" >&2; exit 2; }

case ${1-} in
  -h | --help) usage; exit 0 ;;
  -*) refuse "unknown option '$1'; see --help" ;;
esac
(($# <= 1)) || refuse "it takes one folder; see --help"
tools=(dpkg-buildpackage dh)
[[ ${MEND_TEST_LONG-} != 1 ]] || tools+=(lintian)
for tool in "${tools[@]}"; do
  command -v "$tool" >/dev/null || refuse "$tool is missing: apt-get install dpkg-dev debhelper lintian"
done
if [[ -z ${MPI_HOME-} && -f $checkout/build/environment.sh ]]; then source "$checkout/build/environment.sh"; fi
export MPI_HOME=${MPI_HOME-}

mkdir -p "${1:-$checkout/out/debian}"
target=$(cd "${1:-$checkout/out/debian}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/mend-debian-XXXXXX")
trap 'rm -rf "$work"' EXIT

version=$(sed -n 's/^project(mend VERSION \([0-9.]*\).*/\1/p' "$checkout/CMakeLists.txt")
who="${DEBFULLNAME:-$(git -C "$checkout" config user.name || id -un)} <${DEBEMAIL:-$(git -C "$checkout" config user.email || echo "$(id -un)@$(hostname -f)")}>"
source=$work/mend-$version
mkdir "$source"
"$checkout/packaging/copy_sources.sh" "$source"
cp -r "$here/debian" "$source/debian"
control=$(<"$here/debian/control")
printf '%s\n' "${control/@MAINTAINER@/"$who"}" >"$source/debian/control"
cat >"$source/debian/changelog" <<END
mend ($version) unstable; urgency=medium

  * Built from the sources of mend $version.

 -- $who  $(date --rfc-email)
END

echo "debian: building mend $version${MPI_HOME:+ for the Open MPI in $MPI_HOME} (log: $target/build.log)"
if ! (cd "$source" && dpkg-buildpackage --build=binary --no-sign) >"$target/build.log" 2>&1; then
  tail -n 30 "$target/build.log" >&2
  refuse "the packages could not be built; the whole log is $target/build.log"
fi
made=("$work"/*.deb)
rm -f "$target"/{mend,mend-dbgsym,libmend-dev}_*.deb
cp "${made[@]}" "$target"
printf '%s\n' "${made[@]/#"$work"/"$target"}"
if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error,warning "${made[@]}"
else
  echo "debian: lintian is not installed, so the packages are not checked"
fi
