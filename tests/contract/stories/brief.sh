# shellcheck shell=bash
# The brief: entries, anchors that hold or do not, import and export, and what is refused.
# shellcheck source=tests/contract/stages.sh
source "$CONTRACT/stages.sh"
accepted_words tally
cook brief note established "words counts with wc" --evidence tally:words --basis observed --reopen "when tally changes"
json brief note established "the gate is green" --evidence 'cmd:bash tests/run.sh' --basis output --reopen none
cook brief note established "no such place" --evidence tally:no_such_symbol --basis observed --reopen none
cook brief note forbid "no second parser" --source "user@note"
cook brief note learned "wc pads its number" --source "session experience"
cook brief note open "is it fast?" --verifies "time it"
cook brief note next "measure it" --outcome "a number"
cook brief note next ""
cook brief note no-such-slot text
printf '{"claim": "as JSON", "evidence": "README.md", "basis": "doc", "reopen": "none"}' >"$ROOM/entry"
record "cook brief note established < JSON" text "$COOK" brief note established <"$ROOM/entry"
printf '{"claim": 7}' >"$ROOM/entry"
record "cook brief note established < wrong JSON" text "$COOK" brief note established <"$ROOM/entry"
cook brief say "keep it small" --as-user
CLAUDECODE=1 cook brief say "keep it small"
cook brief
cook brief check
json brief check
printf 'words() { :; }\n' >tally
cook brief check
quietly git checkout -- tally
cook brief --max-bytes 300
codes brief --all
codes brief show
record "cook brief export" json "$COOK" brief export
json brief guide
cook brief guide
example="$ROOM/example.json"
cp "$CONTRACT/../data/brief-example.json" "$example"
cook brief render "$example"
record "cook brief import < example" text "$COOK" brief import "$example"
record "cook brief import - < example" codes "$COOK" brief import - <"$example"
jq '.brief.established[0].basis = "guess"' "$example" >"$ROOM/wrong.json"
cook brief render "$ROOM/wrong.json"
jq 'del(.brief.task)' "$example" >"$ROOM/wrong.json"
cook brief render "$ROOM/wrong.json"
printf 'no json' >"$ROOM/wrong.json"
cook brief render "$ROOM/wrong.json"
json brief render "$ROOM/wrong.json"
