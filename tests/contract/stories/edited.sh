# shellcheck shell=bash
# Files of cook that somebody edits: what verify, next and a folded `adopt` say.
# shellcheck source=tests/contract/stages.sh
source "$CONTRACT/stages.sh"
selected tally
edit() {
  jq "$2" ".agent/$1" >"$ROOM/edited" && cat "$ROOM/edited" >".agent/$1"
}
note "the state says that the project is done"
edit state.json '.project_done = true'
cook next
codes verify
folded cook plan adopt --discard --as-user -- adopt --discard --as-user
cook verify control-plane
cook doctor

note "a criterion of the plan is weakened"
edit plan.json '.candidate_slices[0].acceptance_criteria[0] = "prints something"'
cook next
codes verify control-plane
folded cook plan adopt --as-user -- adopt --as-user
folded cook plan adopt --discard --as-user -- adopt --discard --as-user

note "a slice is added to the plan"
edit plan.json '.candidate_slices += [.candidate_slices[1] | .slice_id = "third" | .goal = "a third thing" | .contract_ids = ["C-third"]]'
folded cook plan adopt --as-user -- adopt --as-user
cook log

note "a document is no JSON any more"
printf 'not json' >.agent/plan.json
cook next
cook status
codes verify control-plane
folded cook plan adopt --discard --as-user -- adopt --discard --as-user

note "the stop verifier is disarmed"
printf '#!/bin/sh\nexit 0\n' >.agent/verify_completion_stop.sh
cook verify stop
codes verify control-plane
cook next

note "the log is gone"
git for-each-ref --format='%(refname)' refs/cook | while read -r ref; do git update-ref -d "$ref"; done
cook status
cook next
codes verify control-plane
