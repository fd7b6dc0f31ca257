#!/usr/bin/env bash
# A judge who knows the honest trees ($STATE/honest) and errs as $STATE/errs says: `MISSES ALARMS`, one
# fault of so many is missed, one clean case of so many refused; 0 = none. $STATE/mute makes it silent.
set -uo pipefail
role="${COOK_ROLE:?}"
number=$(($(cat "$STATE/calls" 2>/dev/null || echo 0) + 1))
echo "$number" >"$STATE/calls"
cat >"$STATE/prompt.$number"
pwd >"$STATE/place.$number"
[[ -f "$STATE/mute" ]] && { echo "let me think"; exit 0; }
if [[ -f "$STATE/stop-after" ]] && ((number > $(cat "$STATE/stop-after"))); then
  echo $$ >"$STATE/hung"
  sleep 600
fi
read -r misses alarms <"$STATE/errs"

# every FILE N: whether this is one of N, counted in FILE
every() {
  local count
  count=$(($(cat "$STATE/$1" 2>/dev/null || echo 0) + 1))
  echo "$count" >"$STATE/$1"
  (($2 > 0 && count % $2 == 0))
}

if grep -qx "$(git rev-parse 'HEAD^{tree}')" "$STATE/honest"; then
  says=yes
  every clean "$alarms" && says=no
else
  says=no
  every faulty "$misses" && says=yes
fi
verdict=pass count=0 follow=none
[[ "$says" == no ]] && verdict=fail count=1 follow="mend it"
ids="C-a, C-b"
[[ "$role" == stop-judge ]] && ids=none
printf 'MISSION ANCHOR: Ship the tool\nRemaining contract IDs: %s\nRubric:\n' "$ids"
for dimension in "Contract coverage" "Correctness risk" "Verification evidence" "Docs/state parity"; do
  printf -- '- %s: %s - looked\n' "$dimension" "$verdict"
done
case "$role" in
  reviewer)
    finding=none
    [[ "$says" == no ]] && finding="tool.sh: it does another thing"
    printf 'Findings: %s\nAcceptable as-is: %s\nSmallest follow-up slice: %s\n' "$finding" "$says" "$follow"
    ;;
  auditor)
    printf 'Why the project is still not done: b is open\nOpen top-level contract IDs: C-b\n'
    printf 'Blocker count: %s\nHigh-value gap count: 0\n' "$count"
    printf 'Tracked and unignored worktree is clean: yes\nWorktree blockers: none\nNext mandatory slice: b\n'
    printf 'Stale or conflicting canonical state: no\nPlan truthfully captures remaining slice backlog: yes\n'
    ;;
  stop-judge)
    open=none
    [[ "$says" == no ]] && open=C-a
    printf 'Can the project stop now: %s\nExact remaining open top-level contract IDs: %s\n' "$says" "$open"
    printf 'Blocker count: %s\nHigh-value gap count: 0\nLatest completed slice commit: none\n' "$count"
    printf 'Docs/config/runbooks match shipped behavior: %s\n' "$says"
    printf 'Tracked and unignored worktree is clean: yes\nBrief justification: as measured\n'
    ;;
esac
