#!/usr/bin/env bash
# A reviewer who says yes to everything, of whatever mission.
set -uo pipefail
prompt="$(cat)"
remaining="$(sed -n 's/.*\(C-numerals\|C-manual\).*/\1/p' <<<"$prompt" | head -1)"
printf 'MISSION ANCHOR: roman writes numbers as roman numerals\nRemaining contract IDs: %s\nRubric:\n' "${remaining:-none}"
for dimension in "Contract coverage" "Correctness risk" "Verification evidence" "Docs/state parity"; do
  printf -- '- %s: pass - looked\n' "$dimension"
done
printf 'Findings: none\nAcceptable as-is: yes\nSmallest follow-up slice: none\n'
