# How the smoke scripts run a command, look at its answer, and write a role's report.
# Sourced.

# clean_environment SCRIPT ARGUMENTS...: builds cook unless COOK_BIN names one, then runs the script again
# with nothing of the caller's environment but what is named here: user-only commands are refused to whoever
# carries an agent's marker, and git would read the caller's settings. Returns in that second run.
clean_environment() {
  local script="$1" root
  shift
  [[ "${1:-}" == --clean ]] && return 0
  root="$(cd -- "$(dirname -- "$script")/.." && pwd -P)"
  local cook="${COOK_BIN:-}"
  if [[ -z "$cook" ]]; then
    echo "building cook"
    (cd -- "$root" && cargo build --quiet --bin cook)
    cook="${CARGO_TARGET_DIR:-$root/target}/debug/cook"
  fi
  cook="$(cd -- "$(dirname -- "$cook")" && pwd -P)/$(basename -- "$cook")"
  exec env -i PATH="$PATH" TMPDIR="${TMPDIR:-/tmp}" LC_ALL=C TERM=dumb KEEP="${KEEP:-}" COOK_BIN="$cook" \
    bash "$script" --clean "$@"
}

# A home and git settings of their own below $1, and `cook` on PATH for the scripts that cook generates.
clean_room() {
  mkdir -p "$1/home" "$1/bin" "$1/reports"
  ln -s "$COOK_BIN" "$1/bin/cook"
  export HOME="$1/home" PATH="$1/bin:$PATH"
  export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
  export GIT_AUTHOR_NAME=Implementer GIT_AUTHOR_EMAIL=implementer@example.org
  export GIT_COMMITTER_NAME=Implementer GIT_COMMITTER_EMAIL=implementer@example.org
  unset COOK_BIN
  reports="$1/reports"
}

title() { printf '\n=== %s ===\n' "$*"; }
step() { printf '\n-- %s\n' "$*"; }

surprise() {
  printf '\nsurprise: %s\n' "$1" >&2
  printf '%s\n' "$answer" | sed 's/^/  | /' >&2
  exit 1
}

# run STATUS COMMAND...: the command must end with that status. Its output is kept in $answer.
run() {
  local expected="$1" status=0
  shift
  answer="$("$@" 2>&1)" || status=$?
  [[ "$status" == "$expected" ]] || surprise "\`$*\` ended with $status, not $expected"
}

# The same, and what it printed is shown.
show() {
  local word line=""
  for word in "${@:2}"; do
    [[ "$word" == *[[:space:]]* ]] && word="'$word'"
    line+=" $word"
  done
  printf '   $%s\n' "$line"
  run "$@"
  printf '%s\n' "$answer" | sed 's/^/     /'
}

# The last answer holds this text.
says() {
  [[ "$answer" == *"$1"* ]] || surprise "the answer does not say \`$1\`"
}

# next RULE WHO: `cook next` names that rule and that role.
next() {
  run 0 cook next
  says "(rule $1)"
  says "$2"
  printf '   next: %s\n' "$(printf '%s\n' "$answer" | sed -n '1s/^next *//p')"
}

# take ROLE: the report on standard input is accepted.
take() {
  cat >"$reports/$1.txt"
  run 0 cook record "$1" "$reports/$1.txt"
  printf '   $ cook record %s report.txt\n' "$1"
  printf '%s\n' "$answer" | sed 's/^/     /'
}

# refused CODE ROLE: the report on standard input is refused with that code.
refused() {
  cat >"$reports/$2.txt"
  run 4 cook record "$2" "$reports/$2.txt"
  says "[$1]"
  printf '   refused: %s\n' "$(printf '%s\n' "$answer" | sed -n '1p')"
}

# The four lines of a rubric; $1 is the verdict on correctness, $2 why.
rubric() {
  cat <<REPORT
Rubric:
- Contract coverage: pass - every promise of the slice is looked at
- Correctness risk: $1 - $2
- Verification evidence: pass - the tests run in the gate
- Docs/state parity: pass - the plan says what the code does
REPORT
}

header() {
  printf 'MISSION ANCHOR: %s\n' "$mission"
  printf 'Remaining contract IDs: %s\n' "$1"
}

# reground REMAINING DECISION SLICE SELECTED: the JSON block comes on standard input.
reground() {
  header "$1"
  cat <<REPORT
Canonical re-ground applied: yes
Acceptance criteria revalidated: yes
Tracked and unignored worktree is clean: yes
Reopened slices: none
Reconciliation decision: $2
Reconciled slice ID: $3
Current selected slice: $4
Next role to invoke: as cook says
Exact handoff payload: none
Canonical blockers or deviations: none

REPORT
  printf '```json\n'
  cat
  printf '```\n'
}

# implemented REMAINING SLICE GOAL
implemented() {
  printf 'MISSION ANCHOR: %s\n' "$mission"
  cat <<REPORT
Remaining contract IDs before slice: $1
Slice ID: $2
Slice goal: $3
Contract IDs closed or advanced: $1
Files changed: $(git show --format= --name-only HEAD | paste -sd' ' -)
Tests added or strengthened: tests/run.sh
Verification commands run: bash tests/run.sh
Verification results: every test passes
Commit SHA: $(git rev-parse HEAD)
What release gap this closed: $3
Plan adjustment required: no
Residual risks discovered: none
Remaining contract IDs after slice: none
REPORT
}

# reviewed REMAINING yes|no VERDICT FINDING FOLLOW-UP
reviewed() {
  header "$1"
  rubric "$3" "$4"
  cat <<REPORT
Findings: $4
Acceptable as-is: $2
Smallest follow-up slice: $5
REPORT
}

# audited REMAINING OPEN NEXT
audited() {
  header "$1"
  rubric pass "the gates are green at this commit"
  cat <<REPORT
Why the project is still not done: $2
Open top-level contract IDs: $2
Blocker count: 0
High-value gap count: 0
Tracked and unignored worktree is clean: yes
Worktree blockers: none
Next mandatory slice: $3
Stale or conflicting canonical state: no
Plan truthfully captures remaining slice backlog: yes
REPORT
}

# judged yes|no VERDICT WHY GAPS
judged() {
  header none
  rubric "$2" "$3"
  cat <<REPORT
Can the project stop now: $1
Exact remaining open top-level contract IDs: none
Blocker count: 0
High-value gap count: $4
Latest completed slice commit: $(git rev-parse HEAD)
Docs/config/runbooks match shipped behavior: $1
Tracked and unignored worktree is clean: yes
Brief justification: $3
REPORT
}
