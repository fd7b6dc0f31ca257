#!/usr/bin/env bash
# A scripted agent that plays every role of a small job, so that the examples can be run without a model.
# What it says depends on its role and on what the repository holds, never on what it said before: it may be
# killed, and any machine may hold its next session.
#
# $STATE, where it is set, is a directory of the test's: `calls` gets a line for each session, and the first
# session of ROLE hangs where there is a file `hang-ROLE`.
set -euo pipefail
# shellcheck source=/dev/null
source "$(dirname -- "${BASH_SOURCE[0]}")/../../smoke/steps.sh"
mission="greet says hello"
cat >/dev/null

if [[ -n "${STATE:-}" ]]; then
  printf '%s %s\n' "$COOK_ROLE" "$PWD" >>"$STATE/calls"
  # Whoever removes the file is the one that hangs.
  if rm "$STATE/hang-$COOK_ROLE" 2>/dev/null; then
    [[ "$COOK_ROLE" == implementer ]] && echo half >half.txt
    echo "$$ $PWD" >"$STATE/hung.new"
    mv "$STATE/hung.new" "$STATE/hung"
    until [[ -f "$STATE/go" ]]; do sleep 0.05; done
    rm -f half.txt
  fi
fi

slice='{"slice_id": "hello", "goal": "greet says hello", "priority": 5,
  "acceptance_criteria": ["greet prints hello"], "contract_ids": ["C-hello"], "why_now": "it is the mission",
  "implementation_surfaces": ["greet", "tests/"], "verification_commands": ["bash tests/run.sh"]}'

case "$COOK_ROLE" in
  regrounder)
    if ! grep -q '"slice_id": "hello"' .agent/plan.json; then
      reground none none none hello <<JSON
{"plan": {"plan_basis": "the mission", "candidate_slices": [$slice]}, "select": "hello"}
JSON
    elif grep -q '"status": "done"' .agent/plan.json; then
      reground none none none none <<<'{"conclude": {"decision": "stop"}}'
    else
      reground C-hello accepted hello none <<'JSON'
{"reconcile": {"slice_id": "hello", "decision": "accepted"},
 "evidence": [{"criterion": "greet prints hello", "anchor": "test:greet prints hello", "basis": "test"}]}
JSON
    fi
    ;;
  implementer)
    if ! grep -q 'greet prints hello' tests/run.sh; then
      printf '#!/usr/bin/env bash\necho hello\n' >greet
      # shellcheck disable=SC2016
      printf '[[ "$(bash greet)" == hello ]] && echo "ok 2 - greet prints hello"\n' >>tests/run.sh
      git add --all
      git commit --quiet --message "Say hello" --message "Cook-Slice: hello"
    fi
    implemented C-hello hello "greet says hello"
    ;;
  reviewer) reviewed C-hello yes pass none none ;;
  auditor) audited C-hello C-hello hello ;;
  stop-judge) judged yes pass "nothing is left" 0 ;;
esac
