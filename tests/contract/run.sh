#!/usr/bin/env bash
# The contract suite: it plays the same stories with two programs and prints where their answers differ.
#
#   tests/contract/run.sh BEFORE NEW          plays every story with both programs and compares them
#   tests/contract/run.sh --record BEFORE     plays them with BEFORE and keeps its answers in before/
#   tests/contract/run.sh --recorded NEW      plays them with NEW and compares with the answers in before/
#
# Set ONLY='check-* demo-*' to play some of the stories, KEEP=1 to keep the directory with the transcripts.
# A transcript has one block for each command: `$ COMMAND`, `exit CODE`, then lines that begin with `out`
# (standard output), `err` (standard error), `code` (a code in brackets that either of them names) or `json`
# (the path and the value of an answer in JSON; a text of several words is only called a text). Ids, times,
# durations, paths and versions are replaced. Every line that differs must match a row of differences.tsv:
# story, command, line with `-` (BEFORE) or `+` (NEW) in front, reason; columns are separated by one tab, and
# `*` stands for any text. A difference without a row fails, and so does a row that matches nothing: when
# prose changes, one row for its `out` and `err` lines is enough, while `exit`, `code` and `json` lines
# stay compared. A command that gets a new name is played under both: see `folded` in story.sh.
# This folder exists for the rewrite and goes when the rewrite is finished.
#
# Exit codes: 0 no difference without a reason, 1 there is one (or a row without a difference), 2 wrong call,
# a story that does not end, or a tool that is missing.
set -euo pipefail
unset CDPATH
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)"
# The self-test has a table and recorded answers of its own.
table="${TABLE:-$here/differences.tsv}"
answers="${ANSWERS:-$here/before}"
# The longest that one story may take, in seconds.
limit=120
# What a story may call; nothing else of this machine is found.
tools=(awk basename bash cat chmod cmp cp cut date diff dirname env expr find git grep head id jq ln ls make
  mkdir mktemp mv paste printf python3 pwd readlink rm sed sh sleep sort tail tee test timeout touch tr true uname uniq wc yes)

fail() {
  printf '%s\n' "$1" >&2
  exit 2
}

# Prints the absolute path of a program.
program() {
  [[ -f "$1" && -x "$1" ]] || fail "$1 is not a program"
  printf '%s/%s\n' "$(cd -- "$(dirname -- "$1")" && pwd -P)" "$(basename -- "$1")"
}

# The names of the stories that are wanted, the longest first.
wanted() {
  local name pattern patterns names=()
  read -ra patterns <<<"${ONLY:-*}"
  for name in "$here"/stories/*.sh; do
    name="$(basename -- "$name" .sh)"
    for pattern in "${patterns[@]}"; do
      # shellcheck disable=SC2053 # It is a pattern.
      if [[ "$name" == $pattern ]]; then
        names+=("$name")
        break
      fi
    done
  done
  ((${#names[@]} == 0)) || printf '%s\n' "${names[@]}" | sort -k 1,1 | awk '
    /^(demo-|run-)/ { print; next }
    { rest[++count] = $0 }
    END { for (n = 1; n <= count; n++) print rest[n] }'
}

# play PROGRAM DIRECTORY: writes a transcript for each story into the directory, three stories at a time, because the long ones wait.
play() {
  local cook="$1" into="$2" name tool path broken=0
  mkdir -p "$into" "$work/tools"
  [[ -n "$(wanted)" ]] || fail "no story has such a name"
  for tool in "${tools[@]}"; do
    path="$(type -P "$tool")" || fail "this suite needs $tool"
    [[ "$tool" == python3 && -x /usr/bin/python3 ]] && path=/usr/bin/python3
    ln -sf "$path" "$work/tools/$tool"
  done
  wanted | xargs -P 3 -I NAME "$here/run.sh" --story "$cook" NAME "$work" "$into" || broken=1
  for name in $(wanted); do
    [[ -f "$into/$name.txt" ]] || broken=1
  done
  ((broken == 0)) || fail "a story did not end as it should"
}

# story PROGRAM NAME WORK DIRECTORY: plays one story in a directory of its own.
story() {
  local cook="$1" name="$2" work="$3" into="$4" room status=0
  room="$(mktemp -d "$work/room.XXXXXX")"
  room="$(cd -- "$room" && pwd -P)"
  mkdir "$room/bin" "$room/home" "$room/tmp"
  ln -s "$cook" "$room/bin/cook"
  timeout --kill-after=5 "$limit" env -i PATH="$room/bin:$work/tools" HOME="$room/home" TMPDIR="$room/tmp" \
    LC_ALL=C TERM=dumb GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null ROOM="$room" CONTRACT="$here" \
    bash "$here/story.sh" "$here/stories/$name.sh" >"$room/raw" 2>"$room/raw.err" </dev/null || status=$?
  if ((status != 0)) || [[ "$(tail -n 1 "$room/raw")" != "# The end." ]]; then
    printf 'the story %s ended with %s; its last lines:\n' "$name" "$status" >&2
    tail -n 5 "$room/raw" "$room/raw.err" >&2
    rm -rf -- "$room"
    return 1
  fi
  sed -E -e "s#$room#@ROOM@#g" -e "s#$work#@WORK@#g" -e "s#$cook#@COOK@#g" \
    -f "$here/normalise.sed" "$room/raw" | cat -s >"$into/$name.txt"
  if [[ -s "$room/raw.err" ]]; then
    sed -E -e "s#$room#@ROOM@#g" -e 's/^/story error: /' "$room/raw.err" >>"$into/$name.txt"
  fi
  rm -rf -- "$room"
}

# Every line with the command that it answers in front.
with_commands() {
  awk 'BEGIN { command = "-" } /^\$ / { command = substr($0, 3) } { print command "\t" $0 }' "$1"
}

# A row's pattern as bash understands it: only `*` is special.
pattern() {
  local text="$1" sign
  text="${text//\\/\\\\}"
  for sign in '[' ']' '(' ')' '?' '|'; do
    text="${text//"$sign"/"\\$sign"}"
  done
  printf '%s\n' "$text"
}

# compare BEFORE NEW: two directories with transcripts. Prints every difference without a row.
compare() {
  local before="$1" new="$2" name line command sign row found failures=0 known=0 number=0
  local story_of=() command_of=() line_of=() where=() used=()
  local one two three four
  while IFS=$'\t' read -r one two three four || [[ -n "$one" ]]; do
    number=$((number + 1))
    [[ -z "$one" || "$one" == '#'* ]] && continue
    [[ -n "$four" && "$three" == [-+]* ]] ||
      fail "differences.tsv:$number: a row has four columns (story, command, -line or +line, reason)"
    story_of+=("$(pattern "$one")") command_of+=("$(pattern "$two")") line_of+=("$(pattern "$three")")
    where+=("$number") used+=(0)
  done <"$table"
  for name in $(wanted); do
    [[ -f "$before/$name.txt" ]] || fail "before/ has no transcript of $name: run.sh --record BEFORE makes it"
    while IFS=$'\t' read -r command line; do
      sign="${command:0:1}" command="${command:1}" found=""
      for row in "${!where[@]}"; do
        # shellcheck disable=SC2053 # They are patterns.
        if [[ "$sign$line" == ${line_of[row]} && "$command" == ${command_of[row]} && "$name" == ${story_of[row]} ]]; then
          found=yes
          used[row]=$((used[row] + 1))
        fi
      done
      if [[ -n "$found" ]]; then
        known=$((known + 1))
      else
        failures=$((failures + 1))
        printf '%s\t%s\t%s%s\n' "$name" "$command" "$sign" "$line"
      fi
    done < <(diff --unchanged-line-format='' --old-line-format='-%L' --new-line-format='+%L' \
      <(with_commands "$before/$name.txt") <(with_commands "$new/$name.txt"))
  done
  if [[ "${ONLY:-*}" == "*" ]]; then
    for row in "${!where[@]}"; do
      if ((used[row] == 0)); then
        failures=$((failures + 1))
        printf 'differences.tsv:%s: this row matches no difference\n' "${where[row]}"
      fi
    done
  fi
  printf '%s stories, %s differences with a reason, %s failures, %s s\n' \
    "$(wanted | wc -l)" "$known" "$failures" "$SECONDS" >&2
  ((failures == 0))
}

if [[ "${1:-}" == --story && $# == 5 ]]; then
  story "$2" "$3" "$4" "$5"
  exit
fi

# In memory where it has room and lets programs run: the stories wait for no disk there.
place="${TMPDIR:-/tmp}"
if [[ -d /dev/shm && -w /dev/shm ]] && (($(df --output=avail /dev/shm | tail -n 1) > 1048576)) &&
  ! grep -qE '^[^ ]+ /dev/shm .*noexec' /proc/mounts; then
  place=/dev/shm
fi
work="$(mktemp -d "$place/contract.XXXXXX")"
work="$(cd -- "$work" && pwd -P)"
finish() {
  if [[ -n "${KEEP:-}" ]]; then
    printf 'kept: %s\n' "$work" >&2
  else
    rm -rf -- "$work"
  fi
}
trap finish EXIT

case "$#:${1:-}" in
  2:--record)
    cook="$(program "$2")"
    play "$cook" "$work/before"
    mkdir -p "$answers"
    [[ -n "${ONLY:-}" ]] || rm -f -- "$answers"/*.txt
    cp -- "$work"/before/*.txt "$answers/"
    printf '%s stories recorded in %s s\n' "$(wanted | wc -l)" "$SECONDS" >&2
    ;;
  2:--recorded)
    cook="$(program "$2")"
    play "$cook" "$work/new"
    compare "$answers" "$work/new"
    ;;
  1:--unplayed)
    # For the self-test: the recorded answers stand for both sides, so no row of the table is of use.
    compare "$answers" "$answers"
    ;;
  2:-*)
    fail "usage: run.sh BEFORE NEW, run.sh --record BEFORE or run.sh --recorded NEW"
    ;;
  2:*)
    before="$(program "$1")"
    cook="$(program "$2")"
    play "$before" "$work/before"
    play "$cook" "$work/new"
    compare "$work/before" "$work/new"
    ;;
  *)
    fail "usage: run.sh BEFORE NEW, run.sh --record BEFORE or run.sh --recorded NEW"
    ;;
esac
