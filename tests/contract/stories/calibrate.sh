# shellcheck shell=bash
# `cook calibrate` and `cook run` with an agent that a script plays.
# shellcheck source=tests/contract/stages.sh
source "$CONTRACT/stages.sh"
done_job tally
put "$ROOM/agent.sh" <<'CODE'
#!/bin/sh
cat >/dev/null
echo "let me think"
CODE
cook calibrate --cases 1
cook calibrate --agent no-such
cook run
cook run --agent no-such
cook run --estimate
selected second
put .agent/cook.toml <<TOML
[sandbox]
mode = "off"
[agents.mine]
bin = "sh"
start = ["$ROOM/agent.sh"]
events = "text"
TOML
cook run --agent mine --steps 1
quietly git commit --quiet --all --message "Settings"
cook next
cook init --as-user
cook run --agent mine --steps 1
words="$("$COOK" run --agent mine --steps 1 2>&1 | sed -n "s/.*cook trust '\(agent [^']*\)'.*/\1/p" | head -n 1)"
[[ -n "$words" ]] && quietly "$COOK" trust "$words" --as-user
folded cook run --agent mine --once -- step --agent mine
codes run --agent mine --steps 1
cook status
cook log
