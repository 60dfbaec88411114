# The messages of the set-up: what it does and how long that takes. All other output goes to the log. Uses $log.

say() { printf 'set-up: %s\n' "$*"; }

begin_log() {
  : >"$log"
  trap 'stop_progress; exit 130' HUP INT TERM
}

# give_up SENTENCE: ends the set-up, shows the end of the log, and names the log file.
give_up() {
  {
    if [[ -s $log ]]; then
      printf '%s\n' '---- the end of the log:'
      tail -n 20 "$log"
      printf '%s\n' '----'
    fi
    printf 'set-up: %s\n' "$1"
    printf 'set-up: the whole log is %s\n' "$log"
  } >&2
  exit 1
}

minutes_and_seconds() {
  if (($1 >= 60)); then printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); else printf '%d s' "$1"; fi
}

# logged WHAT LINES COMMAND...: runs the command with its output in the log. Shows the progress by the number of lines,
# about LINES in all (0: unknown, so only the time is shown). On a terminal that is one line that is rewritten,
# elsewhere a line for every tenth of the way or every half minute.
logged() {
  local what=$1 lines=$2
  shift 2
  printf '\n==== %s: %s\n' "$what" "$*" >>"$log"
  local before start=$SECONDS
  before=$(wc -l <"$log")
  set -m  # a process group of its own, so that all of it can be ended
  "$@" >>"$log" 2>&1 9>&- </dev/null &
  logged_pid=$!
  set +m
  local shown=-1 mark
  while kill -0 "$logged_pid" 2>/dev/null; do
    sleep 0.5 9>&-
    local elapsed=$((SECONDS - start)) percent=0
    if ((lines > 0)); then
      percent=$((100 * ($(wc -l <"$log") - before) / lines))
      ((percent < 100)) || percent=99
      mark=$((percent / 10))
    else
      mark=$((elapsed / 30))
    fi
    local text="set-up: $what"
    ((lines == 0)) || text+=", $percent %"
    text+=", $(minutes_and_seconds "$elapsed")"
    if [[ -t 1 ]]; then
      printf '\r\e[K%s' "$text"
    elif ((mark > shown)); then
      shown=$mark
      printf '%s\n' "$text"
    fi
  done
  local code=0
  wait "$logged_pid" || code=$?
  logged_pid=
  [[ ! -t 1 ]] || printf '\r\e[K'
  if ((code == 0)); then say "$what: done in $(minutes_and_seconds $((SECONDS - start)))"; fi
  return "$code"
}

# If the set-up is interrupted, the command that it has started is ended.
stop_progress() {
  [[ -z ${logged_pid-} ]] || kill -TERM -- "-$logged_pid" 2>/dev/null || true
}
