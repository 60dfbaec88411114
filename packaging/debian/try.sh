#!/usr/bin/env bash
# Tries the Debian packages as a new user would: builds and checks them, installs them, compiles a program in C and one
# in C++, each with pkg-config and with CMake, and runs them while a rank is killed. Removes the packages at the end, but
# not those that they need. Needs root, or sudo without a password. To be run on a machine on which mend is not installed:
# packaging/debian/try.sh [FOLDER]. If FOLDER has packages already, it tries these.

set -euo pipefail
unset CDPATH  # with it, cd may print
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$(dirname "$here")")

fail() { printf 'packaging/debian/try.sh: %s\n' "$1" >&2; exit 1; }

as_root=()
if ((EUID != 0)); then
  sudo -n true 2>/dev/null || fail "only root can install packages"
  as_root=(sudo)
fi
if grep -qx installed < <(dpkg-query --show --showformat='${db:Status-Status}\n' mend libmend-dev 2>/dev/null); then
  fail "mend is installed on this machine already; remove it before"
fi
if [[ -z ${MPI_HOME-} && -f $checkout/build/environment.sh ]]; then source "$checkout/build/environment.sh"; fi
work=$(mktemp -d "${TMPDIR:-/tmp}/mend-try-XXXXXX")
remove() {
  "${as_root[@]}" dpkg --purge libmend-dev mend >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap remove EXIT
packages=${1:-$work/packages}
mkdir -p "$packages"
packages=$(cd "$packages" && pwd)
maintainer=
if compgen -G "$packages/mend_*.deb" >/dev/null; then
  echo "debian: nothing is built, but the packages that are in $packages are tried:"
  (cd "$packages" && ls -l --time-style=long-iso -- *.deb)
else
  maintainer=${DEBFULLNAME-}
  "$here/build.sh" "$packages"
fi
field() {
  local files=("$packages/$1"_*.deb)
  dpkg-deb --field "${files[-1]}" "$2"
}
if [[ ${MPI_HOME:-/usr} == /usr ]]; then
  [[ $(field mend Depends) == *openmpi-bin* && $(field libmend-dev Depends) == *libopenmpi-dev* ]] ||
    fail "the packages do not depend on those of Debian's Open MPI"
fi
[[ -z $maintainer || $(field mend Maintainer) == "$maintainer <"* ]] ||
  fail "the maintainer of the packages is $(field mend Maintainer), and not $maintainer"
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
  "$packages"/mend_*.deb "$packages"/libmend-dev_*.deb || fail "the packages cannot be installed"

cd "$work"
run() { mend run -n 3 --spares 1 -- "$@" || fail "$* has ended with an error"; }
check_count() {
  said=$(run "$1")
  [[ $said == *"epoch 0, total 165"* ]] || fail "$1 said: $said"
  said=$(run "$1" kill)
  [[ $said == *"epoch 1, total 165"* ]] || fail "$1, a rank of which was killed, said: $said"
}
check_heat() {
  said=$(run "$1")
  [[ $said =~ heat\ [0-9.e+-]+ ]] || fail "$1 said: $said"
  heat=${BASH_REMATCH[0]}
  said=$(run "$1" kill)
  [[ $said == *"1 recoveries"*"$heat"* ]] || fail "$1, a rank of which was killed, said: $said (and not $heat)"
}
build() {  # FOLDER: of tests/consumer
  cmake -S "$consumers/$1" -B "$1" ${MPI_HOME:+-D CMAKE_PREFIX_PATH="$MPI_HOME"} >configure.log ||
    fail "find_package(mend) does not find the packages"
  cmake --build "$1" >build.log || fail "a program cannot be built with the packages by CMake"
}
consumers=$checkout/tests/consumer
compilers=${MPI_HOME:+$MPI_HOME/bin/}
words=$(pkg-config --cflags --libs mend) || fail "pkg-config does not find the packages"
read -ra flags <<<"$words"
"${compilers}mpicc" "$consumers/in_c/count.c" "${flags[@]}" -o count
check_count ./count
"${compilers}mpic++" -std=c++20 "$consumers/in_cpp/main.cpp" "${flags[@]}" -o heat
check_heat ./heat
build in_c
check_count in_c/count
build in_cpp
check_heat in_cpp/heat
mend run -n 2 --spares 1 -- stencil --nx 16 --ny 16 --nz 16 --steps 4 --kill 1@2 || fail "the mini-app does not survive"
for page in mend-run stencil minife; do
  man --where "$page" >/dev/null 2>&1 || [[ -f /usr/share/man/man1/$page.1.gz ]] || fail "there is no man page $page"
done
[[ -n $(/usr/share/mend/corrections.sh --list) ]] || fail "the corrections to Open MPI are not installed"
echo "the packages work"
