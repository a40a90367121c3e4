# shellcheck shell=bash
# Shows a long command as one line on the screen and writes all its output to a log. Sourced by ./nbody.
#   phase TITLE LOG COMMAND...     runs the command; its output goes to build/log/LOG.log
#   follow TITLE LOG-FILE [HIDE]   does the same with the text on its standard input; also shows the
#                                  lines of this text that do not match HIDE
# On a terminal, the one line is updated: it shows progress, current item, time left and log. Elsewhere, a
# new line is printed every PROGRESS_EVERY seconds; no line if PROGRESS_EVERY is 0.

export NINJA_STATUS='[%f/%t] '  # read by position_of

phase() {
  local title=$1 log=$LOGS/$2.log code=0
  shift 2
  mkdir -p "$LOGS"
  "$@" 2>&1 </dev/null | follow "$title" "$log" || code=$?
  [ "$code" -ne 0 ] || return 0
  echo "Failed; the end of $log:"
  tail -n 40 "$log"
  exit 1
}

# left SECONDS DONE ALL: prints the time left, assuming that the remaining items take as long as those done.
left() {
  local seconds=$(($1 * ($3 - $2) / $2))
  if [ "$seconds" -lt 90 ]; then
    echo "about $seconds s left"
  else
    echo "about $(((seconds + 30) / 60)) min left"
  fi
}

# position_of LINE SECONDS: prints, for a line of ninja or ctest, a text such as
# "137 of 269, step07_overlap, about 40 s left".
position_of() {
  local what rest=''
  [[ $1 =~ ^\ *\[?([0-9]+)/([0-9]+)\]?\ +(Test\ +#[0-9]+:\ +)?(.*) ]] || return 1
  what=${BASH_REMATCH[4]%% ...*}
  what=${what##*[ /]}
  [ "$2" -lt 3 ] || [ "${BASH_REMATCH[1]}" -eq 0 ] || rest=", $(left "$2" "${BASH_REMATCH[@]:1:2}")"
  echo "${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}, $what$rest"
}

follow() {
  local title=$1 log=$2 hide=${3-} started=$SECONDS shown=$SECONDS every=${PROGRESS_EVERY:-20}
  local line='' part status=0 next position='' terminal='' broken=''
  [ ! -t 1 ] || terminal=$(tput cols 2>/dev/null || echo 80)
  printf '%s ... ' "$title"
  while [ "$status" -eq 0 ] || [ "$status" -gt 128 ]; do  # > 128: no complete line for a second
    status=0
    IFS= read -r -t 1 part || status=$?
    line+=$part
    if [ "$status" -eq 0 ] || [ "$status" -le 128 ] && [ -n "$line" ]; then
      printf '%s\n' "$line" >&3
      next=$(position_of "$line" $((SECONDS - started))) && position=$next
      if ! [[ $line =~ $hide ]]; then
        printf '%s%s\n' "${terminal:+$'\r\033[K'}" "$line"
        broken=yes
      fi
      line=''
    fi
    if [ -n "$terminal" ]; then
      part="$title: ${position:+$position, }$((SECONDS - started)) s ($log)"
      printf '\r\033[K%s' "${part:0:terminal-1}"
    elif [ "$every" -gt 0 ] && [ $((SECONDS - shown)) -ge "$every" ]; then
      [ -n "$broken" ] || echo
      echo "  ${position:+$position, }$((SECONDS - started)) s ($log)"
      broken=yes shown=$SECONDS
    fi
  done 3>"$log"
  [ -z "$terminal$broken" ] || printf '%s%s ... ' "${terminal:+$'\r\033[K'}" "$title"
  echo "$((SECONDS - started)) s"
}
