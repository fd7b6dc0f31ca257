#!/usr/bin/env bash
# report.sh ROLE TURN: the report that a role hands in at its so many-th session of a short job: one slice,
# sent back once.
set -euo pipefail
# shellcheck source=/dev/null
source "$SMOKE/steps.sh"
# shellcheck source=/dev/null
source "$SMOKE/job.sh"
case "$1-$2" in
  regrounder-1)
    reground none none none words <<JSON
{"plan": {"plan_basis": "README and tally", "candidate_slices": [$words_slice]}, "select": "words"}
JSON
    ;;
  implementer-*)
    implemented C-words words "count the words of a file"
    ;;
  reviewer-1) reviewed C-words no fail "tally:8 hides a file that is not there" "let the error through and test it" ;;
  auditor-1) audited C-words C-words words ;;
  regrounder-2)
    reground C-words reopened words words <<JSON
{"reconcile": {"slice_id": "words", "decision": "reopened"}}
JSON
    ;;
  reviewer-2) reviewed C-words yes pass none none ;;
  auditor-2) audited C-words none none ;;
  regrounder-3)
    reground C-words accepted words none <<JSON
{"reconcile": {"slice_id": "words", "decision": "accepted"}, "evidence": $words_evidence}
JSON
    ;;
  stop-judge-*) judged yes pass "judge $2 finds nothing left" 0 ;;
  regrounder-4)
    reground none none none none <<'JSON'
{"conclude": {"decision": "stop"}}
JSON
    ;;
  *)
    echo "nothing is left for $1-$2"
    ;;
esac
