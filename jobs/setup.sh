#!/usr/bin/env bash
# Prepares a machine for building mend: system packages, and an Open MPI that survives dead processes. Only missing
# parts are installed; if there are none, it takes a fraction of a second. See `jobs/setup.sh --help`.

set -euo pipefail
unset CDPATH  # with it, cd may print

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$here")
build=$checkout/build
log=$build/setup.log

refuse() { printf 'jobs/setup.sh: %s\n' "$1" >&2; exit 2; }

home=${HOME:-$(getent passwd "$(id -u)" | cut -d : -f 6 || true)}
[[ -n ${MEND_PREFIX-}${XDG_DATA_HOME-}$home ]] ||
  refuse "HOME is not set, and the system knows no home folder of this user: set HOME, or MEND_PREFIX"
# Symbolic links are kept: what they lead to may have another name on another node.
mend_prefix=$(realpath --canonicalize-missing --no-symlinks "${MEND_PREFIX:-${XDG_DATA_HOME:-$home/.local/share}/mend}")

source "$here/setup/say.sh"
source "$here/setup/packages.sh"
source "$here/setup/openmpi.sh"

usage() {
  cat <<END
Usage: jobs/setup.sh [--open-mpi DIR|VERSION|ARCHIVE|git[:BRANCH]] [--uncorrected] [--help]

Makes this machine ready to build mend. Installs missing packages (Debian 12 and 13; as root or with sudo), and looks
for an Open MPI of release 5.0 or later with fault tolerance: in MPI_HOME, the one of an earlier --open-mpi or
--uncorrected, in CMAKE_PREFIX_PATH, on PATH, then in
$openmpi_prefix
where Open MPI $openmpi_version is built when there is none (about 8 minutes on 2 cores). MEND_PREFIX names another
place than $mend_prefix.

What is found is taken as it is, even without mend's corrections. jobs/setup.sh --open-mpi $tested_version takes one
with all of them, or builds it, whatever else is there.

--open-mpi DIR      takes the installed Open MPI of that prefix, and no other
--open-mpi VERSION  builds that release, 5.0.0 or later, with those of mend's corrections that fit it, and names the others
--open-mpi ARCHIVE  the same, of the sources in a tar file
--open-mpi git      the same, of the newest sources in Open MPI's repository: branch main, or git:BRANCH, also a tag
--uncorrected       builds it as it is distributed, to compare; mend works on it, with limits (docs/open-mpi.md)
A folder or file whose name is git or a version is meant by ./git.
jobs/corrections.sh --check PREFIX tries what an Open MPI lacks.

Leaves build/environment.sh, which sets MPI_HOME and PATH:  source build/environment.sh
It also keeps the choice of --open-mpi and --uncorrected for later runs; remove it to undo that.
The log is build/setup.log. Nothing is written outside the build folder, the prefix and the system's packages; where the
checkout's name has white space, Open MPI is built in a temporary folder.
END
}

write_environment() {
  local text='# Made by jobs/setup.sh.' own="unset $own_home" is_chosen=
  if [[ -n $wanted$uncorrected || $(chosen_before) == "$mpi_home" ]]; then
    is_chosen=yes
    text+=$'\n'$choice_mark
  fi
  # printf %q, so that any path can be sourced.
  if [[ -n $is_chosen || $mpi_home == "$openmpi_prefix" ]]; then
    own=$(printf 'export %s=%q' "$own_home" "$mpi_home")
  fi
  text+=$(printf '\nexport MPI_HOME=%q\n%s\nexport PATH=%q:"$PATH"\n' "$mpi_home" "$own" "$mpi_home/bin")
  if [[ ! -f $build/environment.sh || $(<"$build/environment.sh") != "$text" ]]; then
    printf '%s\n' "$text" >"$build/environment.sh.new"
    mv "$build/environment.sh.new" "$build/environment.sh"
  fi
}

parse() {
  wanted= uncorrected=
  while (($# > 0)); do
    case $1 in
      -h | --help) usage; exit 0 ;;
      --open-mpi)
        [[ -n ${2-} ]] || refuse "--open-mpi needs a prefix, a version, an archive of sources, or git"
        wanted=$2
        shift
        ;;
      --uncorrected) uncorrected=yes ;;
      *) refuse "unknown argument '$1'; see --help" ;;
    esac
    shift
  done
  choose_openmpi
}

finish() {
  local release
  release=$(openmpi_release "$mpi_home")
  write_environment
  if [[ -n ${!own_home-} && ${MPI_HOME-} == "${!own_home}" && $MPI_HOME != "$mpi_home" ]]; then
    say "MPI_HOME is $MPI_HOME because a build/environment.sh has set it, which is no choice: --open-mpi $MPI_HOME is one"
  fi
  say "ready, with Open MPI $release in $mpi_home"
  report_missing_corrections "$release"
}

main() {
  parse "$@"
  mkdir -p "$build"

  if [[ -z $(missing_packages) ]] && find_openmpi; then
    finish
    return
  fi

  # Two checkouts share the prefix and the system's packages.
  mkdir -p "$mend_prefix"
  exec 9>"$mend_prefix/.lock"
  if ! flock --nonblock 9; then
    say "waiting for another set-up that is under way on this machine"
    flock 9
  fi
  begin_log  # not before that: the other one may have the same log
  install_missing_packages
  plan_openmpi
  find_openmpi || build_openmpi
  finish
}

main "$@"
