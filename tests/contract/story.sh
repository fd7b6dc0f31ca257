# shellcheck shell=bash
# Plays the story in file $1; run.sh calls this in a clean environment. The story is sourced in an empty
# directory and uses the functions below.
set -u
export GIT_AUTHOR_NAME=Author GIT_AUTHOR_EMAIL=author@example.org
export GIT_COMMITTER_NAME=Committer GIT_COMMITTER_EMAIL=committer@example.org
COOK="$ROOM/bin/cook"

# at HH:MM: sets the clock of cook and of git; cook heeds it only beside COOK_TEST.
at() {
  export COOK_TEST=1 COOK_NOW="2026-03-02T$1:00Z" COOK_WRITER=00000000000000000000000000000000
  export GIT_AUTHOR_DATE="$COOK_NOW" GIT_COMMITTER_DATE="$COOK_NOW"
}

# Prints a remark into the transcript, so that commands of one name can be told apart by a reader.
note() { printf '\n# %s\n' "$*"; }

# The words of a command in one line.
words() {
  local word line=""
  for word in "$@"; do
    word="${word//$'\n'/ }"
    [[ "$word" == *[[:space:]]* || -z "$word" ]] && word="'$word'"
    line+=" $word"
  done
  printf '%s\n' "${line:1}"
}

# Shows how a command ended and what it printed: transcribe LABEL FORM STATUS. FORM is `text`, `json`, or `codes`
# for the exit code and the codes alone.
transcribe() {
  local label="$1" form="$2" status="$3"
  printf '\n$ %s\nexit %s\n' "$label" "$status"
  if [[ "$form" == json ]] && jq -r -f "$CONTRACT/json.jq" "$ROOM/out" >"$ROOM/lines" 2>/dev/null; then
    # A line that comes twice is shown once.
    awk '!seen[$0]++ { print "json " $0 }' "$ROOM/lines"
    form=shown
  elif [[ "$form" == json ]]; then
    form=text
  fi
  awk -v form="$form" -f "$CONTRACT/transcript.awk" "$ROOM/out" err=1 "$ROOM/err"
}

# record LABEL FORM COMMAND...: runs it and shows it. What it printed stays in $ROOM/out and $ROOM/err.
record() {
  local label="$1" form="$2" status=0
  shift 2
  "$@" >"$ROOM/out" 2>"$ROOM/err" || status=$?
  transcribe "$label" "$form" "$status"
}

# The program before had one default profile; the new one is asked for it, wherever a story begins a log.
cook_as_before() {
  if [[ "$1" == init && " $* " != *' --assurance '* && " $* " != *' --tick '* && ! -e .agent/profile.json ]] &&
    "$COOK" init --for week --help >/dev/null 2>&1; then
    set -- "$@" --assurance strict
  fi
  "$COOK" "$@"
}

# cook ARGUMENTS...: runs cook and shows what it printed. json ARGUMENTS...: the same with --json, as paths.
# codes ARGUMENTS...: how it ended alone.
cook() { record "cook $(words "$@")" text cook_as_before "$@"; }
json() { record "cook $(words "$@") --json" json cook_as_before "$@" --json; }
codes() { record "cook $(words "$@")" codes cook_as_before "$@"; }

# any COMMAND...: another program than cook, git for example.
any() { record "$(words "$@")" text "$@"; }

# quietly COMMAND...: what only prepares the story; it must succeed.
quietly() {
  "$@" >"$ROOM/quiet" 2>&1 && return
  printf '\n! %s ended with %s\n' "$(words "$@")" "$?"
  sed 's/^/! /' "$ROOM/quiet"
}

# folded cook|json|codes NEW WORDS... -- OLD WORDS...: a command that has a new name: under the new one where the
# program knows it, else under the old one. The transcript shows the new one.
folded() {
  local form="$1" new=() old=() label
  shift
  while [[ "$1" != -- ]]; do
    new+=("$1")
    shift
  done
  shift
  old=("$@")
  [[ "$form" == json ]] && old+=(--json)
  label="cook $(words "${new[@]}")"
  [[ "$form" == json ]] && new+=(--json) && label+=" --json"
  [[ "$form" == cook ]] && form=text
  if "$COOK" "${new[@]}" --help >/dev/null 2>&1; then
    record "$label" "$form" "$COOK" "${new[@]}"
  else
    record "$label" "$form" "$COOK" "${old[@]}"
  fi
}

# fresh NAME: a new repository without a commit; it becomes the working directory.
fresh() {
  mkdir -p "$ROOM/$1"
  cd -- "$ROOM/$1" || exit
  git init --quiet --initial-branch=main
}

# save MESSAGE [SLICE]: commits everything.
save() {
  git add --all
  if [[ -n "${2:-}" ]]; then
    git commit --quiet --allow-empty --message "$1" --message "Cook-Slice: $2"
  else
    git commit --quiet --allow-empty --message "$1"
  fi
}

# put FILE: writes standard input into a file.
put() {
  mkdir -p "$(dirname -- "$1")"
  cat >"$1"
}

# A small program in Python whose tests are its only gate; its first commit is made.
calculator() {
  fresh "$1"
  put calc.py <<'CODE'
def add(a, b):
    return a + b
CODE
  put tests/__init__.py </dev/null
  put tests/test_calc.py <<'CODE'
import unittest
from calc import add


class T(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)

    def test_neg(self):
        self.assertEqual(add(1, -2), -1)
CODE
  printf 'test:\n\tpython3 -m unittest -v\n' >Makefile
  printf '__pycache__/\nlocal_*.py\n' >.gitignore
  save "Begin"
}

# A shell library with one test; its first commit is pushed to a remote beside it.
with_remote() {
  fresh "$1"
  printf 'test:\n\tsh t.sh\n' >Makefile
  # shellcheck disable=SC2016 # The gate expands it.
  printf 'set -e\n. ./lib.sh\n[ "$(one)" = 1 ]\n' >t.sh
  printf 'one() { echo 1; }\n' >lib.sh
  save "Begin"
  quietly git init --quiet --bare --initial-branch=main "$ROOM/$1.git"
  git remote add origin "$ROOM/$1.git"
  quietly git push --quiet --set-upstream origin main
}

# break_it: the library does what its test forbids.
break_it() {
  printf 'one() { echo 2; }\n' >lib.sh
  save "Break it"
}

mkdir -p "$ROOM/empty"
cd -- "$ROOM/empty" || exit
at 09:00
# shellcheck source=/dev/null
source "$1"
printf '\n# The end.\n'
