# shellcheck shell=bash
# Hooks of each agent: printed, installed, checked, removed.
# shellcheck source=tests/contract/stages.sh
source "$CONTRACT/stages.sh"
selected tally
quietly "$COOK" hooks remove claude
for agent in claude codex gemini qwen copilot cursor opencode pi; do
  note "$agent"
  record "cook hooks install $agent --print, its shape" text sh -c "cook hooks install $agent --print | grep -oE 'cook hook [a-z-]+( --[a-z]+)*( [a-zA-Z_]+)?' | sort | uniq -c | tr -s ' '"
  codes hooks check "$agent"
  cook hooks install "$agent"
  codes hooks check "$agent"
  codes hooks install "$agent"
  cook hooks remove "$agent"
  record "the files that $agent left" text git status --short --untracked-files=all
  quietly git clean --quiet --force -d
done
note "with --check"
for agent in claude codex; do
  record "cook hooks install $agent --check --print, its shape" text sh -c "cook hooks install $agent --check --print | grep -oE 'cook hook [a-z-]+( --[a-z]+)*' | sort | uniq -c | tr -s ' '"
done
cook hooks check claude
cook hooks install claude --shared
cook hooks check claude
json hooks check claude
cook hooks install no-such-agent
cook hooks attach no-such-session --as-user
cook hooks attach
