#!/usr/bin/env bash
# Tries mend's corrections to Open MPI one by one on a library: see --help. Installed as share/mend/corrections.sh.

set -euo pipefail
unset CDPATH  # with it, cd may print

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
reproducers=${MEND_REPRODUCERS-$here/setup/reproducers}  # tests name others
patches=$here/setup/patches

usage() {
  cat <<USAGE
Usage: $0 --check MPI_HOME [--runs N] [--tabs] [NAME...]
       $0 --list

Runs the reproducer of each correction (setup/reproducers beside this script), or of the NAMEd ones, against the Open MPI
in MPI_HOME, and prints a table: whether the library shows the defect, in which run, and after how many seconds. A
reproducer is repeated until it shows the defect, at most as often as its file says, or N times. Each run has a time
limit; what it has started is ended with it. A few minutes for all.

--tabs prints the lines of the table alone, for programs, with a tab between two columns.

Exits with 0 when no defect is shown, with 1 when one is, with 2 for wrong arguments or a library that cannot be used,
and with 3 when none could be tried.
USAGE
}

refuse() { printf '%s: %s\n' "${0##*/}" "$1" >&2; exit 2; }

# Prints the file of the reproducer NAME; nothing if there is none.
file_of() { find "$reproducers" -mindepth 2 \( -name "$1.c" -o -name "$1.sh" \) -print -quit; }

# setting FILE KEY DEFAULT: prints what a line "KEY: VALUE" in the comment at the top of the file says.
setting() {
  local value
  value=$(sed -n "1,40s,^\(//\|#\) $2: \(.*\),\2,p" "$1" | head -n 1)
  printf '%s' "${value:-$3}"
}

names() {
  find "$patches" -name '*.patch' -printf '%f\n' | sed 's/\.patch$//' | sort -u
}

check_library() {
  [[ -d $home ]] || refuse "$home is not a folder"
  home=$(cd "$home" && pwd)  # reproducers run in another folder
  # Without them, what a reproducer leaves could not be ended.
  command -v ps >/dev/null || refuse "ps is missing: install procps"
  command -v setsid >/dev/null || refuse "setsid is missing: install util-linux"
  local tool
  for tool in mpicc mpirun ompi_info; do
    [[ -x $home/bin/$tool ]] || refuse "$home has no bin/$tool; name the prefix of an Open MPI of release 5.0 or later"
  done
  # Reads the whole output: with grep -q, ompi_info may write to a closed pipe.
  [[ $("$home/bin/ompi_info" 2>/dev/null) =~ FT\ MPI\ support:\ *yes ]] ||
    refuse "the Open MPI in $home has no fault tolerance (ompi_info does not say 'FT MPI support: yes')"
}

# Sets $pmix to the options with which a program finds the PMIx of this Open MPI: in its prefix, or a package of its own.
find_pmix() {
  pmix=(-L"$home/lib" -Wl,-rpath,"$home/lib" -lpmix)
  [[ -f $home/include/pmix.h ]] || read -r -a pmix < <(pkg-config --cflags --libs pmix 2>/dev/null) || true
}

# Ends all processes of the session, without the messages of bash about that.
end_session() {
  local left i
  kill -TERM "$1" || true
  for ((i = 0; i < 40; ++i)); do
    left=$(ps -s "$1" -o stat=,pid= | sed -n '/^Z/!s/.* //p' || true)  # without zombies
    [[ -n $left ]] || return 0
    ((i < 10)) || kill -KILL $left || true
    sleep 0.05
  done
} 2>/dev/null

# Ends a reproducer that is still running, and removes what it has left.
clean_up() {
  trap '' HUP INT TERM
  local session
  for session in $(jobs -p); do end_session "$session"; done
  rm -rf "$scratch"
}

# run_once LIMIT COMMAND...: sets $outcome to "defect", "sound", "hangs", "untestable" or "ended", and $words to what was
# said with it. Ends everything that the command has started.
run_once() {
  local limit=$1 session deadline
  shift
  : >"$scratch/output"
  # A session of its own, by which its processes are found; a folder of its own for what they leave behind.
  mkdir -p "$scratch/tmp"
  (cd "$scratch/tmp" && TMPDIR=$scratch/tmp OMPI_MCA_btl_sm_backing_directory=$scratch/tmp exec setsid "$@") \
    >"$scratch/output" 2>"$scratch/errors" </dev/null &
  session=$!
  deadline=$((SECONDS + limit))
  outcome=ended words=
  local line=
  while :; do
    local running=yes
    kill -0 "$session" 2>/dev/null || running=
    line=$(grep -a -m 1 -E '^(defect: .*|sound|untestable: .*)$' "$scratch/output" || true)
    if [[ -n $line ]]; then
      outcome=${line%%:*}
      [[ $line == sound ]] || words=${line#*: }
      break
    fi
    [[ -n $running ]] || break
    if ((SECONDS >= deadline)); then outcome=hangs; break; fi
    sleep 0.05
  done
  end_session "$session"
  local code=0
  wait "$session" 2>/dev/null || code=$?
  [[ $outcome != ended ]] || words="exit code $code"
  rm -rf "$scratch/tmp"
}

# Sets $verdict, $words, $run and $seconds of a correction.
try_correction() {
  local name=$1 file limit runs command=() begin=$EPOCHREALTIME
  verdict=untestable run=0
  if [[ -z $starts_jobs ]]; then
    words="mpirun does not start a job" seconds=0
    return
  fi
  file=$(file_of "$name")
  if [[ -z $file ]]; then
    words="it has no reproducer" seconds=0
    return
  fi
  local framework component of library
  read -r framework component of library <<<"$(setting "$file" needs '')"
  if [[ -n $component && $components != *"mca:$framework:$component:"* ]]; then
    words="this Open MPI was built without $library" seconds=0
    return
  fi
  limit=$(setting "$file" limit 20)
  runs=${most_runs:-$(setting "$file" runs 1)}
  case $file in
    *.sh) command=(bash "$file" "$home") ;;
    *)
      local options=()
      read -r -a options <<<"$(setting "$file" options '')"
      if ! "$home/bin/mpicc" -O1 -o "$scratch/$name" "$file" -I"$reproducers" "${pmix[@]}" 2>"$scratch/errors"; then
        words="it cannot be compiled: $(head -n 1 "$scratch/errors")" seconds=$(seconds_since "$begin")
        return
      fi
      command=("$home/bin/mpirun" --with-ft ulfm --map-by :OVERSUBSCRIBE --prtemca state_base_recoverable 1
        "${options[@]}" -np "$(setting "$file" processes 2)" "$scratch/$name")
      ;;
  esac
  local outcome meaning
  verdict='not shown'
  for ((run = 1; run <= runs; ++run)); do
    run_once "$limit" "${command[@]}"
    case $outcome in
      sound) continue ;;
      defect) verdict=shown ;;
      untestable) verdict=untestable ;;
      hangs)
        meaning=$(setting "$file" hangs '')
        if [[ -n $meaning ]]; then
          verdict=shown words="hangs: $meaning"
        else
          verdict=untestable words="it did not end within $limit s"
        fi
        ;;
      ended)
        meaning=$(setting "$file" ends '')
        if [[ -n $meaning ]]; then
          verdict=shown words="$meaning ($words)"
        else
          verdict=untestable words="it ended without a verdict: $words, $(grep -a -m 1 . "$scratch/errors" || true)"
        fi
        ;;
    esac
    break
  done
  [[ $verdict != 'not shown' ]] || run=$runs
  seconds=$(seconds_since "$begin")
}

seconds_since() { awk -v begin="$1" -v end="$EPOCHREALTIME" 'BEGIN { printf "%.1f", end - begin }'; }

check() {
  local name shown=0 untestable=0 count=0 verdict words run seconds
  for name in "${wanted[@]}"; do
    [[ -n $(file_of "$name") ]] || names | grep -qxF "$name" || refuse "there is no correction '$name'; --list prints them"
  done
  check_library
  local pmix components
  find_pmix
  components=$("$home/bin/ompi_info" --parsable 2>/dev/null)
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/mend-corrections-XXXXXX")
  trap clean_up EXIT
  trap 'exit 130' HUP INT TERM
  # What the user has set for other jobs does not count here.
  for name in $(compgen -e | grep -E '^(OMPI|PRTE|PMIX|OPAL|MEND|HWLOC)_'); do unset "$name"; done
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  # Without that, the end of a job would be taken for the crash of its program.
  local outcome starts_jobs=
  run_once 30 "$home/bin/mpirun" --with-ft ulfm --map-by :OVERSUBSCRIBE -np 1 echo sound
  [[ $outcome != sound ]] || starts_jobs=yes
  local line='%-38s %-10s %5s %7s  %s\n'
  if [[ -n $tabs ]]; then
    line='%s\t%s\t%s\t%s\t%s\n'
  else
    printf "$line" correction defect runs seconds why
  fi
  for name in "${wanted[@]}"; do
    try_correction "$name"
    printf "$line" "$name" "$verdict" "$run" "$seconds" "$words"
    count=$((count + 1))
    case $verdict in
      shown) shown=$((shown + 1)) ;;
      untestable) untestable=$((untestable + 1)) ;;
    esac
  done
  [[ -n $tabs ]] ||
    printf '%d of %d defects are shown by %s, %d could not be tried\n' "$shown" "$count" "$home" "$untestable"
  ((shown == 0)) || exit 1
  ((untestable < count)) || exit 3
}

mode= home= most_runs= tabs= wanted=()
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --list) mode=list ;;
    --check)
      (($# > 1)) || refuse "--check needs the prefix of an Open MPI"
      mode=check home=$2
      shift
      ;;
    --runs)
      [[ ${2-} =~ ^[1-9][0-9]{0,4}$ ]] || refuse "--runs needs a number from 1 to 99999"
      most_runs=$2
      shift
      ;;
    --tabs) tabs=yes ;;
    -*) refuse "unknown option '$1'; see --help" ;;
    *) wanted+=("$1") ;;
  esac
  shift
done

case $mode in
  list) names ;;
  check)
    ((${#wanted[@]} > 0)) || mapfile -t wanted < <(names)
    check
    ;;
  *) refuse "nothing to do: it takes --check MPI_HOME or --list; see --help" ;;
esac
