# shellcheck shell=bash
# Agents that are asked and ordered: answers, sessions, names, schemas, and each kind of refusal.
fresh desk
printf 'text\n' >file.txt
save "Begin"
put "$ROOM/agent.sh" <<'CODE'
#!/bin/sh
text="$(cat)"
case "$text" in
  *break*) echo "no good" >&2; exit 3 ;;
  *silence*) : ;;
  *json*) echo '{"answer": 7}' ;;
  *write*) echo "written" >>file.txt; echo "I wrote" ;;
  *"a
b") printf c ;;
  *) printf 'said: %s\n' "$(printf '%s' "$text" | tail -n 1)" ;;
esac
CODE
put .agent/cook.toml <<TOML
[sandbox]
mode = "off"
[roles.default]
agent = "mine"
[agents.mine]
bin = "sh"
start = ["$ROOM/agent.sh"]
events = "text"
[agents.other]
bin = "sh"
start = ["$ROOM/agent.sh"]
events = "text"
TOML
save "Name the agents"
cook ask hello
trust_agents() {
  local name
  for name in mine other; do
    words="$("$COOK" ask hello --agent "$name" 2>&1 | sed -n "s/.*cook trust '\(agent [^']*\)'.*/\1/p" | head -n 1)"
    [[ -n "$words" ]] && quietly "$COOK" trust "$words" --as-user
  done
}
trust_agents
vectors="$CONTRACT/../../protocol/session-vectors.json"
same_hash() { "$COOK" ask $'a\nb' --json 2>/dev/null | jq --slurpfile vectors "$vectors" '.hash.exchange == $vectors[0].exchanges[1].hash'; }
record "an exchange has the hash of protocol/session-vectors.json" text same_hash
cook ask hello
json ask again
series="$(jq -r '.refs.series // empty' "$ROOM/out")"
episode="$(jq -r '.refs.episode // empty' "$ROOM/out")"
[[ -n "$series" ]] && json ask "go on" --on-series "$series"
[[ -n "$episode" ]] && json ask "branch" --on-episode "$episode"
cook ask hello --on-episode no-such-ref
cook ask hello --on-series ep_no
cook ask "please break"
json ask "please break"
cook ask silence
cook ask "please write"
any cat file.txt
cook act "please write"
any cat file.txt
json act "please write"
printf '{"type": "object", "required": ["answer"], "properties": {"answer": {"type": "integer"}}}' >"$ROOM/schema.json"
json ask "json please" --schema "$ROOM/schema.json"
cook ask "no such form" --schema "$ROOM/schema.json"
folded cook ask hello --each mine,other -- fanout hello --agents mine,other
cook ask hello --agent no-such-agent
printf '{"say": "by request", "agent": "mine"}' >"$ROOM/request.json"
json ask --request "$ROOM/request.json"
printf '{"frobnicate": 1}' >"$ROOM/request.json"
cook ask --request "$ROOM/request.json"
record "cook session log, its length" text sh -c "cook session log | wc -l"
record "cook session log --json, its newest call" json sh -c "cook session log --json | jq '.calls |= .[:1]'"
cook session verify
json session verify
if [[ -n "$episode" ]]; then
  cook session name "$episode" first
  cook session show first
  json session show first
  record "cook session tree, sorted" text sh -c "cook session tree | sed 's/ [es][pr]_[0-9A-Z]*//g' | sort"
  record "cook session export first, its keys" text sh -c "cook session export first | jq -r 'keys[]'"
  "$COOK" session export first >"$ROOM/exported.json" 2>/dev/null
  cook session import "$ROOM/exported.json"
  sed 's/again/against/' "$ROOM/exported.json" >"$ROOM/forged.json"
  cook session import "$ROOM/forged.json"
fi
cook session show no-such
cook session gc
