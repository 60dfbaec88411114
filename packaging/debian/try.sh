#!/usr/bin/env bash
# Tries the Debian packages as a new user would: builds and checks them, installs them, compiles a program with
# pkg-config and with CMake, and runs it while a rank is killed. Removes the packages at the end. Needs root. To be run
# on a machine on which mend is not installed: packaging/debian/try.sh [FOLDER]

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$(dirname "$here")")

fail() { printf 'packaging/debian/try.sh: %s\n' "$1" >&2; exit 1; }

((EUID == 0)) || fail "only root can install packages"
if dpkg-query --show --showformat='${db:Status-Status}\n' mend libmend-dev 2>/dev/null | grep -q '^installed$'; then
  fail "mend is installed on this machine already; remove it before"
fi
if [[ -z ${MPI_HOME-} && -f $checkout/build/environment.sh ]]; then source "$checkout/build/environment.sh"; fi
work=$(mktemp -d "${TMPDIR:-/tmp}/mend-try-XXXXXX")
packages=${1:-$work/packages}
mkdir -p "$packages"
packages=$(cd "$packages" && pwd)
if ! compgen -G "$packages/mend_*.deb" >/dev/null; then "$here/build.sh" "$packages"; fi

remove() {
  dpkg --purge libmend-dev mend >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap remove EXIT
dpkg --install "$packages"/mend_*.deb "$packages"/libmend-dev_*.deb || fail "the packages cannot be installed"

cd "$work"
check() {
  local said
  said=$(mend run -n 3 --spares 1 -- "$1") || fail "$1 has ended with an error"
  [[ $said == *"epoch 0, total 165"* ]] || fail "$1 said: $said"
  said=$(mend run -n 3 --spares 1 -- "$1" kill) || fail "$1 has ended with an error when a rank was killed"
  [[ $said == *"epoch 1, total 165"* ]] || fail "$1, a rank of which was killed, said: $said"
}
"${MPI_HOME:+$MPI_HOME/bin/}mpicc" "$checkout/tests/consumer/in_c/count.c" $(pkg-config --cflags --libs mend) -o count
check ./count
cmake -S "$checkout/tests/consumer/in_c" -B in_c ${MPI_HOME:+-D CMAKE_PREFIX_PATH="$MPI_HOME"} >configure.log ||
  fail "find_package(mend) does not find the packages"
cmake --build in_c >build.log || fail "a program cannot be built with the packages by CMake"
check in_c/count
mend run -n 2 --spares 1 -- stencil --nx 16 --ny 16 --nz 16 --steps 4 --kill 1@2 || fail "the mini-app does not survive"
man --where mend-run >/dev/null 2>&1 || [[ -f /usr/share/man/man1/mend-run.1.gz ]] || fail "there is no man page"
echo "the packages work"
