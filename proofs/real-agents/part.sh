#!/usr/bin/env bash
# part.sh work N | report ROLE N: what an implementer runs, and what a role hands in, at its so many-th session of a
# job of two slices in which every verdict is a yes. Called in the repository.
set -euo pipefail
smoke="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
[[ -f "$smoke/job.sh" ]] || smoke="$smoke/../../smoke"
# shellcheck source=/dev/null
source "$smoke/steps.sh"
# shellcheck source=/dev/null
source "$smoke/job.sh"

# Sessions that came to nothing are held again: what counts is how far the work is.
slices="$(git log --format=%B | grep -c '^Cook-Slice:' || true)"
remaining="C-words, C-top"
((slices < 2)) || remaining=C-top

if [[ "$1" == work ]]; then
  case "$slices" in
    0)
      write_words
      fix_words
      commit words "Count words"
      ;;
    1)
      write_top
      commit top "List the most frequent words"
      ;;
  esac
  exit 0
fi

# proofs CRITERION ANCHOR CRITERION ANCHOR
proofs() {
  printf '\n```json\n{"evidence": [{"criterion": "%s", "anchor": "%s"}, {"criterion": "%s", "anchor": "%s"}]}\n```\n' "$@"
}

votes=0
[[ ! -f .agent/stop-check-history.jsonl ]] || votes="$(grep -c . .agent/stop-check-history.jsonl || true)"
case "$2" in
  regrounder)
    case "$slices-$votes" in
      0-*)
        reground none none none words <<JSON
{"plan": {"plan_basis": "README and tally", "candidate_slices": [$words_slice, $top_slice]}, "select": "words"}
JSON
        ;;
      1-*)
        reground "C-words, C-top" accepted words top <<JSON
{"reconcile": {"slice_id": "words", "decision": "accepted"}, "select": "top", "evidence": $words_evidence}
JSON
        ;;
      2-0)
        reground C-top accepted top none <<JSON
{"reconcile": {"slice_id": "top", "decision": "accepted"}, "evidence": $top_evidence}
JSON
        ;;
      *)
        reground none none none none <<'JSON'
{"conclude": {"decision": "stop"}}
JSON
        ;;
    esac
    ;;
  implementer)
    if ((slices < 2)); then
      implemented "C-words, C-top" words "count the words of a file"
      proofs "prints how many words a file has" "test:counts the words of a file" \
        "a file that is not there is an error" "test:a missing file is an error"
    else
      implemented C-top top "list the most frequent words"
      proofs "the most frequent word comes first" "test:the most frequent word comes first" \
        "ties come in the order of the alphabet" "test:equally frequent words come in the order of the alphabet"
    fi
    ;;
  reviewer) reviewed "$remaining" yes pass none none ;;
  auditor) audited "$remaining" none none ;;
  stop-judge) judged yes pass "judge $((votes + 1)) finds nothing left" 0 ;;
esac
