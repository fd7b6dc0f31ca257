# shellcheck shell=bash
# What a report must look like: forms that are taken, and forms that are refused.
# shellcheck source=tests/contract/stages.sh
source "$CONTRACT/stages.sh"
implemented_words tally
good() { reviewed "C-words, C-top" yes pass none none; }
checked() { hand_in reviewer --check; }
note "a good report, plain and in the dress that models give it"
good | checked
good | sed -E 's/^([A-Z][^:]*):/**\1:**/' | checked
good | sed -E 's/^([A-Z])/- \1/' | checked
{ printf '```\n'; good; printf '```\n'; } | checked
{ printf '<think>Acceptable as-is: no</think>\n'; good; } | checked
{ printf 'Here is my report.\n\n'; good; printf '\nThat is all.\n'; } | checked
good | tr '[:lower:]' '[:upper:]' | checked
good | sed 's/$/\r/' | checked
{ good; good; } | checked
note "answers that say two things"
{ good; reviewed "C-words, C-top" no fail broken "mend it"; } | checked
good | sed 's/Acceptable as-is: yes/Acceptable as-is: yes, but not quite/' | checked
good | sed 's/Acceptable as-is: yes/Acceptable as-is: no/' | checked
good | sed 's/Correctness risk: pass - none/Correctness risk: pass - no, it is wrong/' | checked
good | sed 's/Correctness risk: pass/Correctness risk: fail/' | checked
good | sed 's/Acceptable as-is: yes/Acceptable as-is: maybe/' | checked
note "a label is missing, wrong or empty"
good | sed '/^Findings/d' | checked
good | sed 's/^Smallest follow-up slice: none/Smallest follow-up slice:/' | checked
good | sed 's/^MISSION ANCHOR: .*/MISSION ANCHOR: another mission/' | checked
good | sed 's/^Remaining contract IDs: .*/Remaining contract IDs: C-other/' | checked
printf '' | checked
printf '{"acceptable_as_is": "yes"}\n' | checked
printf '\377\376' | checked
note "as JSON, and what to ask for"
good | sed '/^Findings/d' >"$reports/broken.txt"
json record reviewer "$reports/broken.txt" --check
cook record reviewer "$reports/broken.txt" --repair-prompt
cook record reviewer "$reports/broken.txt"
cook record reviewer "$ROOM/no-such-file"
cook record no-such-role "$reports/broken.txt"
note "another role than the one that is due"
good >"$reports/good.txt"
audited "C-words, C-top" C-top top | hand_in auditor
judged yes pass "all is well" 0 | hand_in stop-judge
implemented "C-words, C-top" words "count the words of a file" | hand_in implementer
note "it is tried, then taken"
json record reviewer "$reports/good.txt" --dry-run
cook log -n 2
json record reviewer "$reports/good.txt"
cook record reviewer "$reports/good.txt"
note "without a repository"
cd "$ROOM/empty" || exit
cook record reviewer "$reports/good.txt" --check
cook record reviewer "$reports/broken.txt" --check
note "regrounds that break a rule"
cd "$ROOM/tally" || exit
audited "C-words, C-top" C-top top | take auditor
reground "C-words, C-top" accepted words none <<'JSON' | hand_in regrounder
{"reconcile": {"slice_id": "words", "decision": "accepted"}}
JSON
reground "C-words, C-top" accepted words none <<'JSON' | hand_in regrounder
{"reconcile": {"slice_id": "no-such", "decision": "accepted"}}
JSON
reground "C-words, C-top" accepted words none <<'JSON' | hand_in regrounder
{"reconcile": not json
JSON
reground "C-words, C-top" accepted words none <<'JSON' | hand_in regrounder
{"frobnicate": 1}
JSON
reground "C-words, C-top" accepted words top <<'JSON' | hand_in regrounder
{"reconcile": {"slice_id": "words", "decision": "accepted"}, "select": "top", "evidence": [
  {"criterion": "prints how many words a file has", "anchor": "test:no such test", "basis": "test"},
  {"criterion": "a file that is not there is an error", "anchor": "test:a missing file is an error", "basis": "test"}]}
JSON
reground none none none none <<'JSON' | hand_in regrounder
{"plan": {"plan_basis": "less", "candidate_slices": []}}
JSON
