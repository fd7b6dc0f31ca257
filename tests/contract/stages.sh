# shellcheck shell=bash source-path=SCRIPTDIR
# States of a job that stories begin from, made quietly with the parts of frozen/. Sourced by stories.
# shellcheck source=frozen/steps.sh
source "$CONTRACT/frozen/steps.sh"
# shellcheck source=frozen/job.sh
source "$CONTRACT/frozen/job.sh"
reports="$ROOM/reports"
mkdir -p "$reports"

# The parts of the job say what they expect; here they only prepare, and a surprise is shown.
run() {
  local expected="$1" status=0
  shift
  # shellcheck disable=SC2153 # story.sh sets it.
  [[ "$1" == cook ]] && shift && set -- cook_as_before "$@"
  answer="$("$@" 2>&1)" || status=$?
  [[ "$status" == "$expected" ]] && return
  printf '\n! %s ended with %s\n' "$(words "$@")" "$status"
  printf '%s\n' "$answer" | sed 's/^/! /'
}
show() { run "$@"; }
says() { :; }
step() { :; }
next() { :; }
take() {
  cat >"$reports/$1.txt"
  run 0 cook record "$1" "$reports/$1.txt"
}
refused() {
  cat >"$reports/$2.txt"
  run 4 cook record "$2" "$reports/$2.txt"
}
commit() {
  git add --all
  git commit --quiet --message "$2" --message "Cook-Slice: $1"
}

# The plan is recorded, its gate trusted, the slice `words` selected.
selected() {
  mkdir "$ROOM/$1"
  cd -- "$ROOM/$1" || exit
  set_up
  plan
}

# The slice `words` has a commit with green gates, and neither review nor audit.
implemented_words() {
  selected "$1"
  write_words
  fix_words
  commit words "Count words"
  implemented "C-words, C-top" words "count the words of a file" | take implementer
}

# The slice `words` is accepted, `top` is selected.
accepted_words() {
  implemented_words "$1"
  reviewed "C-words, C-top" yes pass none none | take reviewer
  audited "C-words, C-top" C-top top | take auditor
  reground "C-words, C-top" accepted words top <<JSON | take regrounder
{"reconcile": {"slice_id": "words", "decision": "accepted"}, "select": "top", "evidence": $words_evidence}
JSON
}

# The job is done.
done_job() {
  accepted_words "$1"
  build_second
  review_second
  accept_second
  local judge
  for judge in first second third; do
    judged yes pass "the $judge judge finds nothing left" 0 | take stop-judge
  done
  reground none none none none <<'JSON' | take regrounder
{"conclude": {"decision": "stop"}}
JSON
}

# hand_in ROLE [OPTIONS...]: the report on standard input, shown.
hand_in() {
  local role="$1"
  shift
  cat >"$reports/$role.txt"
  cook record "$role" "$reports/$role.txt" "$@"
}
