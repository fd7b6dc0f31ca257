#!/usr/bin/env bash
# The agent of the driven cheats: its implementer plays the way in $WAY, every other role says yes.
set -uo pipefail
cat >/dev/null
root="$PWD"
ids() {
  perl -MJSON::PP -e 'local $/; my @i = @{decode_json(<STDIN>)->{unsatisfied_contract_ids} || []};
    print @i ? join(", ", @i) : "none"' <"$root/.agent/state.json"
}
begin() { printf 'MISSION ANCHOR: Ship the tool\n'; }
rubric() {
  printf 'Rubric:\n'
  for dimension in "Contract coverage" "Correctness risk" "Verification evidence" "Docs/state parity"; do
    printf -- '- %s: pass - looked\n' "$dimension"
  done
}
remaining="$(ids)"
case "$COOK_ROLE" in
  implementer)
    # What is committed already was played before.
    if ! git log -1 --format=%B | grep -q '^Cook-Slice: a$'; then
      bash -c "$WAY" >/dev/null 2>&1 </dev/null
    fi
    begin
    cat <<X
Remaining contract IDs before slice: $remaining
Slice ID: a
Slice goal: do a
Contract IDs closed or advanced: C-a
Files changed: results
Tests added or strengthened: none
Verification commands run: bash test.sh
Verification results: green
Commit SHA: $(git rev-parse HEAD)
What release gap this closed: none
Plan adjustment required: no
Residual risks discovered: none
Remaining contract IDs after slice: none
X
    ;;
  reviewer)
    begin
    printf 'Remaining contract IDs: %s\n' "$remaining"
    rubric
    printf 'Findings: none\nAcceptable as-is: yes\nSmallest follow-up slice: none\n'
    ;;
  auditor)
    begin
    printf 'Remaining contract IDs: %s\n' "$remaining"
    rubric
    cat <<'X'
Why the project is still not done: see the ids
Open top-level contract IDs: none
Blocker count: 0
High-value gap count: 0
Tracked and unignored worktree is clean: yes
Worktree blockers: none
Next mandatory slice: none
Stale or conflicting canonical state: no
Plan truthfully captures remaining slice backlog: yes
X
    ;;
  regrounder)
    accepts=none slice=none block='{"conclude": {"decision": "stop"}}'
    if grep -q '"status": *"committed"' .agent/active-slice.json; then
      accepts=accepted slice=a block="$ACCEPTS"
    fi
    begin
    cat <<X
Remaining contract IDs: $remaining
Canonical re-ground applied: yes
Acceptance criteria revalidated: yes
Tracked and unignored worktree is clean: yes
Reopened slices: none
Reconciliation decision: $accepts
Reconciled slice ID: $slice
Current selected slice: none
Next role to invoke: whoever is due
Exact handoff payload: none
Canonical blockers or deviations: none

\`\`\`json
$block
\`\`\`
X
    ;;
  stop-judge)
    begin
    printf 'Remaining contract IDs: %s\n' "$remaining"
    rubric
    cat <<'X'
Can the project stop now: yes
Exact remaining open top-level contract IDs: none
Blocker count: 0
High-value gap count: 0
Latest completed slice commit: none
Docs/config/runbooks match shipped behavior: yes
Tracked and unignored worktree is clean: yes
Brief justification: as measured
X
    ;;
esac
