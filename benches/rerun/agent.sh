#!/usr/bin/env bash
# Plays every role of a job of $SLICES slices, each of which adds a part and a test file of its own. Called by `run.sh`.
set -euo pipefail
# shellcheck source=/dev/null
source "$(dirname -- "${BASH_SOURCE[0]}")/../../smoke/steps.sh"
mission="add the parts"
count=$(cat "$SLICES")
open_ids=$(jq -r '.unsatisfied_contract_ids | join(", ") | if . == "" then "none" else . end' .agent/state.json)
cat >/dev/null

# The first slice that the plan does not call done.
find_open() {
  local n
  for n in $(seq "$count"); do
    jq -e --arg id "p$n" '.candidate_slices[] | select(.slice_id == $id and .status == "done")' .agent/plan.json >/dev/null && continue
    echo "p$n"
    return
  done
}

case "$COOK_ROLE" in
  regrounder)
    active=$(jq -r '.slice_id // ""' .agent/active-slice.json)
    open=$(find_open)
    if [[ "$(jq '.candidate_slices | length' .agent/plan.json)" == 0 ]]; then
      slices=$(for n in $(seq "$count"); do
        jq -n --arg n "$n" '{slice_id: "p\($n)", goal: "add part \($n)", priority: 5, acceptance_criteria: ["part \($n) is there"],
          contract_ids: ["C-p\($n)"], why_now: "it is next", implementation_surfaces: ["parts/", "src/", "tests/"], verification_commands: [env.GATE]}'
      done | jq -s .)
      jq -n --argjson slices "$slices" '{plan: {plan_basis: "the mission", candidate_slices: $slices}, select: "p1"}' | reground "$open_ids" none none p1
    elif [[ -n "$active" ]]; then
      n=${active#p}
      next=p$((n + 1))
      ((n < count)) || next=none
      jq -n --arg id "$active" --arg n "$n" --arg next "$next" \
        '{reconcile: {slice_id: $id, decision: "accepted"}, evidence: [{criterion: "part \($n) is there", anchor: "test:part_\($n)", basis: "test"}]}
          + (if $next == "none" then {} else {select: $next} end)' | reground "$open_ids" accepted "$active" "$next"
    elif [[ -n "$open" ]]; then
      jq -n --arg id "$open" '{select: $id}' | reground "$open_ids" none none "$open"
    else
      reground "$open_ids" none none none <<<'{"conclude": {"decision": "stop"}}'
    fi
    ;;
  implementer)
    id=$(jq -r .slice_id .agent/active-slice.json)
    n=${id#p}
    if [[ ! -f "parts/$n" ]]; then
      mkdir -p parts tests
      echo "$n" >"parts/$n"
      case "$KIND" in
        sh) printf '[[ "$(<parts/%s)" == %s ]]\n' "$n" "$n" >"tests/part_$n.sh" ;;
        rust | shared)
          echo "pub fn part_$n(x: u64) -> u64 { x + $n }" >>src/lib.rs
          file=tests/begin.rs
          [[ "$KIND" == shared ]] || file="tests/part_$n.rs"
          printf '#[test]\nfn part_%s() { assert_eq!(parts::part_%s(1), 1 + %s); }\n' "$n" "$n" "$n" >>"$file"
          ;;
      esac
      git add --all
      git commit --quiet --message "Add part $n" --message "Cook-Slice: $id"
    fi
    implemented "$open_ids" "$id" "part $n is added"
    ;;
  reviewer) reviewed "$open_ids" yes pass none none ;;
  auditor)
    id=$(jq -r .slice_id .agent/active-slice.json)
    audited "$open_ids" "$open_ids" "$id"
    ;;
  stop-judge) judged yes pass "nothing is left" 0 ;;
esac
