#!/usr/bin/env bash
# An agent that plays every role of a job of two slices in which every verdict is a yes, and whose
# implementer says what proves each criterion.
set -uo pipefail
# shellcheck source=/dev/null
source "$SMOKE/steps.sh"
# shellcheck source=/dev/null
source "$SMOKE/job.sh"
cat >"$STATE/prompt.$COOK_ROLE"
printf '%s\n' "$COOK_ROLE" >>"$STATE/calls"
turn="$(grep -cx "$COOK_ROLE" "$STATE/calls")"
built="$(grep -cx implementer "$STATE/calls")"
# A plan that the user brought names its contracts as its stories.
contract=C-
[[ ! -e prd.json ]] || contract=
remaining="${contract}words, ${contract}top"
((built < 2)) || remaining="${contract}top"

# proofs CRITERION ANCHOR CRITERION ANCHOR
proofs() {
  printf '\n```json\n{"evidence": [{"criterion": "%s", "anchor": "%s"}, {"criterion": "%s", "anchor": "%s"}]}\n```\n' "$@"
}

case "$COOK_ROLE-$turn" in
  regrounder-1)
    reground none none none words <<JSON
{"plan": {"plan_basis": "README and tally", "candidate_slices": [$words_slice, $top_slice]}, "select": "words"}
JSON
    ;;
  regrounder-2)
    reground "C-words, C-top" accepted words top <<JSON
{"reconcile": {"slice_id": "words", "decision": "accepted"}, "select": "top", "evidence": $words_evidence}
JSON
    ;;
  regrounder-3)
    reground C-top accepted top none <<JSON
{"reconcile": {"slice_id": "top", "decision": "accepted"}, "evidence": $top_evidence}
JSON
    ;;
  regrounder-*)
    reground none none none none <<'JSON'
{"conclude": {"decision": "stop"}}
JSON
    ;;
  implementer-1)
    write_words
    fix_words
    commit words "Count words" >/dev/null
    implemented "$remaining" words "count the words of a file"
    proofs "prints how many words a file has" "test:counts the words of a file" \
      "a file that is not there is an error" "test:a missing file is an error"
    ;;
  implementer-*)
    write_top
    commit top "List the most frequent words" >/dev/null
    implemented "$remaining" top "list the most frequent words"
    proofs "the most frequent word comes first" "test:the most frequent word comes first" \
      "ties come in the order of the alphabet" "test:equally frequent words come in the order of the alphabet"
    ;;
  reviewer-*) reviewed "$remaining" yes pass none none ;;
  auditor-*) audited "$remaining" none none ;;
  stop-judge-*) judged yes pass "judge $turn finds nothing left" 0 ;;
esac
