# The smoke flow that the protocol was seeded with, step by step, without another interpreter.
# Sourced after steps.sh, in an empty directory.

# The selected slice as the flow writes it over the file that init left; $1 = further lines.
write_selected() {
  local revision
  revision="$(sed -n 's/^ *"revision": *\([0-9]*\).*/\1/p' .agent/active-slice.json)"
  cat >"$reports/active.json" <<JSON
{
  "schema_version": 1,
  "revision": $revision,
  "status": "selected",
  "slice_id": "smoke-slice",
  "goal": "verify selected handoff schema",
  "contract_ids": ["smoke-contract"],
  "mission_anchor": "smoke-test mission",
  "acceptance_criteria": ["criterion"],
  "blocked_on": [],
  "locked_notes": [],
  "must_fix_findings": [],
  "basis_commit": "deadbeef",
  "remaining_contract_ids_before": ["smoke-contract"],
  "release_blocker_count_before": 1,
$1  "high_value_gap_count_before": 0
}
JSON
  cp "$reports/active.json" .agent/active-slice.json
}

four_documents() {
  [[ -f .agent/profile.json && -f .agent/state.json && -f .agent/plan.json && -f .agent/active-slice.json ]]
}

seed_flow() {
  step "init runs beside a poll for the four JSON files and is ended as soon as they are there"
  git init -q
  export TMPDIR="$PWD"
  : >"$reports/init.err"
  cook init --mission "smoke-test mission" >"$reports/init.out" 2>"$reports/init.err" &
  local pid=$! left=600
  until four_documents; do
    left=$((left - 1))
    answer="$(cat "$reports/init.err")"
    ((left > 0)) || surprise "the four documents did not appear in a minute"
    sleep 0.1
  done
  kill "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  printf '   they are there\n'

  step "both scripts pass"
  run 0 bash .agent/verify_completion_control_plane.sh
  run 0 bash .agent/verify_completion_stop.sh
  printf '   %s\n' "$(printf '%s\n' "$answer" | tail -n 1)"

  step "a selected slice without priority and why_now fails the control plane"
  write_selected ''
  run 1 bash .agent/verify_completion_control_plane.sh
  says priority
  says why_now
  printf '%s\n' "$answer" | grep -E 'priority|why_now' | sed 's/^ */   /'

  step "with both, the scripts pass again and name what needs a re-ground"
  write_selected '  "priority": 1,
  "why_now": "smoke test exact handoff",
'
  run 0 bash .agent/verify_completion_stop.sh
  run 0 bash .agent/verify_completion_control_plane.sh
  says '[basis_unresolved]'
  says '[slice_not_in_plan]'
  printf '%s\n' "$answer" | grep -E 'basis_unresolved|slice_not_in_plan|edited' | sed 's/^ */   /'

  step "--strict does not let them pass, and the next role is the regrounder"
  run 1 bash .agent/verify_completion_control_plane.sh --strict
  next 2 completion-regrounder
}
