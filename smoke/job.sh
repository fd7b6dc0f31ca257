# One job from `cook init` to `done`: a word counter in bash, its two commands as two slices, the manual as
# a third that a judge asks for. Sourced after steps.sh, in an empty directory.

mission="tally counts the words of a text"

# ---- the program -------------------------------------------------------------------------------

write_start() {
  cat >README.md <<'TEXT'
# tally

Counts the words of a text.
TEXT
  mkdir tests
  cat >tally <<'CODE'
#!/usr/bin/env bash
set -euo pipefail

case "${1:-}" in
  *)
    echo "usage: tally COMMAND FILE" >&2
    exit 2
    ;;
esac
CODE
  cat >tests/run.sh <<'CODE'
#!/usr/bin/env bash
# Prints one line a test, `ok` or `not ok`; exits 1 when one failed.
set -uo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
text="$(mktemp)"
trap 'rm -f "$text"' EXIT
printf 'the cat and the dog\nand the end\n' >"$text"
failed=0
number=0

# check NAME EXPECTED COMMAND...: what it prints, and its status when that is not 0
check() {
  local name="$1" expected="$2" got status=0
  shift 2
  got="$("$@" 2>/dev/null)" || status=$?
  ((status == 0)) || got="$got[$status]"
  number=$((number + 1))
  if [[ "$got" == "$expected" ]]; then
    echo "ok $number - $name"
  else
    echo "not ok $number - $name"
    failed=1
  fi
}

check "no command is a usage error" "[2]" bash tally
exit "$failed"
CODE
  chmod +x tally tests/run.sh
}

# Puts standard input before the line of file $1 that begins with $2.
insert_before() {
  local line text
  text="$(cat)"
  while IFS= read -r line; do
    [[ "$line" == "$2"* ]] && printf '%s\n' "$text"
    printf '%s\n' "$line"
  done <"$1" >"$1.new"
  cat "$1.new" >"$1"
  rm "$1.new"
}

write_words() {
  insert_before tally '  *)' <<'CODE'
  words)
    wc -w <"$2" | tr -d ' ' || true
    ;;
CODE
  insert_before tests/run.sh 'exit' <<'CODE'
check "counts the words of a file" 8 bash tally words "$text"
CODE
}

fix_words() {
  sed 's/ || true$//' tally >tally.new
  cat tally.new >tally
  rm tally.new
  insert_before tests/run.sh 'exit' <<'CODE'
check "a missing file is an error" "[1]" bash tally words no-such-file
CODE
}

write_top() {
  insert_before tally '  *)' <<'CODE'
  top)
    tr -s '[:space:]' '\n' <"$3" | sort | uniq -c | sort -k1,1nr -k2 | sed -n "1,$2s/^ *[0-9]* //p"
    ;;
CODE
  insert_before tests/run.sh 'exit' <<'CODE'
check "the most frequent word comes first" the bash tally top 1 "$text"
check "equally frequent words come in the order of the alphabet" $'the\nand\ncat\ndog' bash tally top 4 "$text"
CODE
}

write_manual() {
  cat >>README.md <<'TEXT'

## Commands

- `tally words FILE` prints how many words the file has.
- `tally top N FILE` prints the N most frequent words, the most frequent first.
TEXT
  insert_before tests/run.sh 'exit' <<'CODE'
check "the manual names every command" 2 grep -cE '^- .tally (words|top) ' README.md
CODE
}

# commit SLICE MESSAGE: what the implementer commits.
commit() {
  git add --all
  git commit --quiet --message "$2" --message "Cook-Slice: $1"
  printf '   committed: %s\n' "$(git log -1 --format='%h %s')"
}

# ---- the plan ----------------------------------------------------------------------------------

words_slice='{
      "slice_id": "words", "goal": "count the words of a file", "priority": 5,
      "acceptance_criteria": ["prints how many words a file has", "a file that is not there is an error"],
      "contract_ids": ["C-words"], "why_now": "top builds on it",
      "implementation_surfaces": ["tally", "tests/"], "verification_commands": ["bash tests/run.sh"]
    }'
top_slice='{
      "slice_id": "top", "goal": "list the most frequent words", "priority": 5,
      "acceptance_criteria": ["the most frequent word comes first", "ties come in the order of the alphabet"],
      "contract_ids": ["C-top"], "why_now": "the second half of the mission", "blocked_on": ["words"],
      "implementation_surfaces": ["tally", "tests/"], "verification_commands": ["bash tests/run.sh"]
    }'
manual_slice='{
      "slice_id": "manual", "goal": "name both commands in the README", "priority": 6,
      "acceptance_criteria": ["the README names every command", "the README says what top prints first"],
      "contract_ids": ["C-manual"], "why_now": "a judge found the README silent about both commands",
      "implementation_surfaces": ["README.md", "tests/"], "verification_commands": ["bash tests/run.sh"]
    }'

words_evidence='[
    {"criterion": "prints how many words a file has", "anchor": "test:counts the words of a file", "basis": "test"},
    {"criterion": "a file that is not there is an error", "anchor": "test:a missing file is an error", "basis": "test"}
  ]'
top_evidence='[
    {"criterion": "the most frequent word comes first", "anchor": "test:the most frequent word comes first", "basis": "test"},
    {"criterion": "ties come in the order of the alphabet",
     "anchor": "test:equally frequent words come in the order of the alphabet", "basis": "test"}
  ]'

# ---- the job, in parts -------------------------------------------------------------------------

set_up() {
  step "a program that does nothing yet, and its test script"
  git init --quiet --initial-branch=main
  write_start
  git add --all
  git commit --quiet --message "Begin tally"
  show 0 cook init --assurance strict --mission "$mission" --commit
  next 3 completion-regrounder
}

plan() {
  step "the regrounder plans two slices, the second blocked on the first"
  reground none none none words <<JSON | take regrounder
{
  "plan": {"plan_basis": "README and tally", "candidate_slices": [$words_slice, $top_slice]},
  "select": "words"
}
JSON
  step "its gate is a command nobody has trusted yet: cook asks before it runs it"
  run 10 cook next --exit-code
  show 0 cook trust 'bash tests/run.sh' --as-user
}

first_attempt() {
  step "the first attempt: the gate is green, and the reviewer says no"
  next 4 completion-implementer
  write_words
  commit words "Count words"
  implemented "C-words, C-top" words "count the words of a file" | take implementer
  next 5 completion-reviewer
  reviewed "C-words, C-top" no fail "tally:8 hides a file that is not there" \
    "let the error through and test it" | take reviewer
  next 6 completion-auditor
  audited "C-words, C-top" "C-words, C-top" words | take auditor
  next 7 completion-regrounder
  reground "C-words, C-top" accepted words none <<JSON | refused review_negative regrounder
{"reconcile": {"slice_id": "words", "decision": "accepted"}}
JSON
  reground "C-words, C-top" reopened words words <<JSON | take regrounder
{"reconcile": {"slice_id": "words", "decision": "reopened"}}
JSON
}

hand_over() {
  step "what the next session must know, with anchors that are checked"
  show 0 cook brief note established "words counts with wc" --evidence tally:words --basis observed --reopen "when tally changes"
  run 1 cook brief note established "it is fine" --evidence tally --basis observed --reopen none
  says "[artifact_invalid]"
  run 4 cook brief say "words of the user's"
  says "[user_only]"
  show 0 cook brief check
  says "1 verified"
  run 0 cook brief --write
  says "Slice \`words\` was reopened: tally:8 hides a file that is not there"
  says "- As the implementer: "
  run 0 cmp CONTINUE.md <(cook brief)
  next 4 completion-implementer
}

second_attempt() {
  step "the fix, its review and its audit"
  next 4 completion-implementer
  fix_words
  commit words "Let a missing file be an error"
  implemented "C-words, C-top" words "count the words of a file" | take implementer
  reviewed "C-words, C-top" yes pass none none | take reviewer
  audited "C-words, C-top" C-top top | take auditor
}

accept_first() {
  step "acceptance needs proof of its own for each criterion"
  next 7 completion-regrounder
  reground "C-words, C-top" accepted words top <<JSON | refused evidence_shared regrounder
{"reconcile": {"slice_id": "words", "decision": "accepted"}, "select": "top", "evidence": [
  {"criterion": "prints how many words a file has", "anchor": "test:a missing file is an error", "basis": "test"},
  {"criterion": "a file that is not there is an error", "anchor": "test:a missing file is an error", "basis": "test"}
]}
JSON
  reground "C-words, C-top" accepted words top <<JSON | take regrounder
{"reconcile": {"slice_id": "words", "decision": "accepted"}, "select": "top", "evidence": $words_evidence}
JSON
}

build_second() {
  step "the second slice"
  next 4 completion-implementer
  write_top
  commit top "List the most frequent words"
  implemented C-top top "list the most frequent words" | take implementer
}

review_second() {
  next 5 completion-reviewer
  reviewed C-top yes pass none none | take reviewer
}

accept_second() {
  next 6 completion-auditor
  audited C-top C-top top | take auditor
  reground C-top accepted top none <<JSON | take regrounder
{"reconcile": {"slice_id": "top", "decision": "accepted"}, "evidence": $top_evidence}
JSON
}

first_wave() {
  step "no slice is open: three judges, and one of them says no"
  next 8 completion-stop-judge
  judged yes pass "both commands work and are tested" 0 | take stop-judge
  judged no concern "the README does not say how to call either command" 1 | take stop-judge
  judged yes pass "nothing is left in the plan" 0 | take stop-judge
  next 9 completion-regrounder
  reground none none none none <<'JSON' | refused stop_not_unanimous regrounder
{"conclude": {"decision": "stop"}}
JSON
}

third_slice() {
  step "the no becomes a third slice"
  reground none none none manual <<JSON | take regrounder
{
  "plan": {"plan_basis": "the judges' first wave", "candidate_slices": [$words_slice, $top_slice, $manual_slice]},
  "conclude": {"decision": "go_on", "reason": "manual takes it up: the README will show both calls"}, "select": "manual"
}
JSON
  write_manual
  commit manual "Say how to call tally"
  implemented C-manual manual "name both commands in the README" | take implementer
  reviewed C-manual yes pass none none | take reviewer
  audited C-manual C-manual manual | take auditor
  reground C-manual accepted manual none <<'JSON' | take regrounder
{"reconcile": {"slice_id": "manual", "decision": "accepted"}, "evidence": [
  {"criterion": "the README names every command", "anchor": "test:the manual names every command", "basis": "test"},
  {"criterion": "the README says what top prints first", "anchor": "README.md:8", "basis": "observed"}
]}
JSON
}

second_wave() {
  step "the second wave is unanimous"
  next 8 completion-stop-judge
  local judge
  for judge in first second third; do
    judged yes pass "the $judge judge finds nothing left" 0 | take stop-judge
  done
}

conclude() {
  step "the final reconciliation"
  next 9 completion-regrounder
  reground none none none none <<'JSON' | take regrounder
{"conclude": {"decision": "stop"}}
JSON
  run 0 cook next
  says done
  show 0 cook status
  show 0 cook verify --strict
}

one_commit_later() {
  step "one commit later the same command no longer passes"
  printf '\nMore to come.\n' >>README.md
  git commit --quiet --all --message "Promise more"
  run 1 cook verify --strict
  says '[head_moved_since_done]'
  printf '%s\n' "$answer" | grep head_moved | sed 's/^ */   /'
}

whole_job() {
  set_up
  plan
  first_attempt
  hand_over
  second_attempt
  accept_first
  build_second
  review_second
  accept_second
  first_wave
  third_slice
  second_wave
  conclude
  one_commit_later
}
