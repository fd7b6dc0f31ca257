# shellcheck shell=bash
# The whole job of smoke/: from `cook init` to done, with each role, a refused report and a second wave.
# shellcheck source=tests/contract/frozen/steps.sh
source "$CONTRACT/frozen/steps.sh"
# shellcheck source=tests/contract/frozen/job.sh
source "$CONTRACT/frozen/job.sh"
reports="$ROOM/reports"
mkdir -p "$reports"

# Every command is shown, whatever its answer is: what it should be is for the comparison to say.
run() {
  shift
  if [[ "$1" == cook ]]; then
    "$@"
  else
    any "$@"
  fi
}
show() { run "$@"; }
says() { :; }
step() { note "$@"; }
# Each record says what is next.
next() { :; }
take() {
  cat >"$reports/$1.txt"
  cook record "$1" "$reports/$1.txt"
}
refused() { take "$2"; }
one_commit_later() {
  printf '\nMore to come.\n' >>README.md
  git commit --quiet --all --message "Promise more"
  cook verify --strict
}
# The brief is compared with what the program prints.
hand_over() {
  note "what the next session must know"
  cook brief note established "words counts with wc" --evidence tally:words --basis observed --reopen "when tally changes"
  cook brief note established "it is fine" --evidence tally --basis observed --reopen none
  cook brief say "words of the user's"
  cook brief check
  json brief check
  cook brief --write
  record "cmp CONTINUE.md with cook brief" text sh -c "cook brief | cmp - CONTINUE.md"
  json next
}
commit() {
  git add --all
  git commit --quiet --message "$2" --message "Cook-Slice: $1"
}

mkdir "$ROOM/tally"
cd "$ROOM/tally" || exit
at 09:10 && set_up
at 09:20 && plan
at 09:40 && first_attempt
at 09:50 && hand_over
at 10:30 && second_attempt
at 11:00 && accept_first
at 11:45 && build_second
at 12:15 && review_second
at 12:30 && accept_second
at 12:40 && first_wave
at 13:00 && third_slice
at 13:30 && second_wave
at 13:40 && conclude
json next
json status
json log -n 3
json verify --strict
at 13:50 && one_commit_later
