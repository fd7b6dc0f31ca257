# The hooks of `cook hooks install AGENT` in sessions that the user started: what is said at a start and after a compaction,
# the guard, stops, and what is left when they go. Sourced by abilities.sh.

# Files that installing may write, each with its bytes; what the agent itself writes there is settled before.
list_settings() {
  local file
  for file in .claude/settings.local.json .claude/commands/cook.md .codex/hooks.json .codex/config.toml .agents/skills/cook/SKILL.md \
    .gemini/settings.json .gemini/commands/cook.toml .qwen/settings.json .qwen/commands/cook.md .copilot/hooks/cook.json \
    .copilot/skills/cook/SKILL.md .copilot/copilot-instructions.md .copilot/config.json .copilot/settings.json \
    .config/opencode/{opencode.json,plugins/cook.ts,commands/cook.md} pi/{settings.json,models.json,extensions/cook.ts,prompts/cook.md} \
    .cline/{plugins/cook.ts,skills/cook/SKILL.md} .kimi-code/{config.toml,skills/cook/SKILL.md}; do
    sha256sum "$home/$file" 2>/dev/null || echo "none $home/$file"
  done
  sha256sum .claude/settings.local.json .claude/commands/cook.md .git/info/exclude 2>/dev/null
  ls -d .claude .agents .cline .gemini .kimi-code .qwen .copilot .github .opencode .pi 2>/dev/null
}

# Settings of the user's own, written as nobody would write them; and what makes a context soon full.
settle_user() {
  mkdir -p "$home"/.copilot "$home"/.agents
  printf '{"security": {"auth": {"selectedType": "openai"}},\n "hooks": {}, "privacy":{"usageStatisticsEnabled": false}}' >"$home/.qwen/settings.json"
  sed -i '1i model_auto_compact_token_limit = 100000' "$home/.codex/config.toml"
  echo '{"compaction": {"enabled": true, "reserveTokens": 1000, "keepRecentTokens": 10}}' >"$home/pi/settings.json"
  printf '# My words\n\nBe brief.' >"$home/.copilot/copilot-instructions.md"
}

# The same in the repository, and the user's name where each agent's shell finds it.
settle_repo() {
  clean git config user.name "$name" && clean git config user.email "$address" && mkdir -p .claude || return 1
  printf '{"permissions":\n   {"allow": ["Bash(ls:*)"]},\n  "hooks": {"PreCompact": [{"hooks": [{"type": "command", "command": "true"}]}]}}' >.claude/settings.local.json
}

# by_user WORDS: a session that the user starts; what the hooks say is the model's to note.
by_user() {
  control '{"reset": true}'
  by_hand "$1" >>"$dir/$agent.out" 2>>"$dir/$agent.err" || { echo "$agent ended with $?: $(tail -n 3 "$dir/$agent.err" | cut -c1-400)"; return 1; }
}

# until_noted EXPRESSION: waits for what the model notes, at most five minutes.
until_noted() {
  local tries=0
  until [[ "$(noted_by_model "$1")" == true ]]; do
    sleep 0.5
    ((++tries < 600)) || return 1
  done
  # What it must not do once more would come now.
  sleep 5
}

# in_session PART...: a session that stays open, as a person's does, of an agent that ends with its answer when a script asks
# it: the words and what is waited for in turn.
in_session() {
  control '{"reset": true}'
  case "$agent" in
    claude) feed "$@" | clean claude -p --input-format stream-json --output-format stream-json --verbose --permission-mode acceptEdits --allowedTools Bash ;;
    pi) feed "$@" | clean pi --model "$(model_of pi)" --mode rpc ;;
    opencode) serve_opencode "$@" ;;
  esac >>"$dir/$agent.out" 2>>"$dir/$agent.err"
}

feed() {
  while (($#)); do
    case "$agent" in
      claude) printf '{"type": "user", "message": {"role": "user", "content": "%s"}}\n' "$1" ;;
      pi) printf '{"type": "prompt", "message": "%s"}\n' "$1" ;;
    esac
    until_noted "$2" >&2
    shift 2
  done
}

serve_opencode() {
  local port server session
  port="$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')"
  "${around[@]}" opencode serve --hostname 127.0.0.1 --port "$port" >&2 &
  server=$!
  until curl -s -m 5 "http://127.0.0.1:$port/session" >/dev/null; do kill -0 "$server" || return 1; sleep 0.5; done
  session="$(curl -s -H 'content-type: application/json' -d '{}' "http://127.0.0.1:$port/session" | json .id)"
  while (($#)); do
    curl -s -H 'content-type: application/json' -d "{\"parts\": [{\"type\": \"text\", \"text\": \"$1\"}]}" "http://127.0.0.1:$port/session/$session/message"
    until_noted "$2"
    shift 2
  done
  kill "$server"
  wait "$server" || return 0
}

# A session whose context is full after four requests.
works_for_long() {
  control "{\"tell\": \"$(fill)\"}"
  case "$agent" in
    claude) in_session "Go on for long. (story: compact)" ".steps >= 4" /compact ".requests.some(([what]) => what === 'summary')" "Go on." ".steps >= 7" ;;
    pi) in_session "Go on for long. (story: compact)" ".requests.some(([what]) => what === 'summary')" "Go on." ".steps >= 7" ;;
    *) by_user "Go on for long. (story: compact)" || return 1 ;;
  esac
  control '{"tell": ""}'
  requests="$(noted_by_model ".requests ?? []")"
}

# Of each request before the compaction, the first among them: what a start says stands in it once.
hears_the_start() { works_for_long && shows 'before.length > 3 && before.every(([, rules, briefs]) => rules === 1 && briefs === 0)'; }

# The first request after it has the same again, with the brief, and no other one has it a second time. Where no event comes
# between the compaction and that request, the next event brings it.
hears_a_compaction() {
  local once='others.length > 1 && others.every(([, rules, briefs]) => rules === others[0][1] && rules > 0 && briefs === 1)'
  shows "const others = after; $once" && return
  shows "const others = after.slice(1); after.length > 2 && after[0][2] === 0 && $once" && outcome="yes, with the second request"
}

# shows EXPRESSION: of the session's requests, the first after the compaction being the first in which the conversation has not grown.
shows() {
  node -e '
    const all = JSON.parse(process.argv[1]).filter(([what]) => what === "compact");
    const at = all.findIndex(([, , , length], n) => n > 0 && length <= all[n - 1][3]);
    const [before, after] = at < 0 ? [all, []] : [all.slice(0, at), all.slice(at)];
    if (eval(process.argv[2])) process.exit(0);
    console.log(process.argv[1]);
    process.exit(1);
  ' "$requests" "$1"
}

# Tokens with which a context is full, and whether a turn must end for it, and another one follow.
fill() {
  case "$agent" in
    gemini) echo "990000 turn take" ;;
    claude | pi) echo "190000 turn" ;;
    *) echo 190000 ;;
  esac
}

# tried WHAT PATTERN: what came of a try, as the model was told.
tried() {
  local said
  said="$(noted_by_model "?.own?.find(([what]) => what === '$1')?.[1] ?? ''" | json '')"
  grep -qE -- "$2" <<<"$said" || { echo "$1: $said"; return 1; }
}

# A session that takes the work while the re-grounder is due.
works_on() {
  before="$(clean git rev-parse HEAD) $(sha256sum README.md)"
  logged="$(tip)" released="$(count_released)"
  case "$agent" in
    pi | opencode) in_session "Take it. (story: own)" ".finished >= 4" ;;
    *) by_user "Take it. (story: own)" ;;
  esac
}

is_guarded() {
  works_on || return 1
  local what
  for what in nested flags redirection; do
    tried "guard: $what" 'cook: .*re-?grounder is due' || return 1
  done
  [[ "$(clean git rev-parse HEAD) $(sha256sum README.md)" == "$before" ]] || { clean git log --oneline -3; return 1; }
}

refuses_what_is_the_users() {
  tried "user: nested" '\[user_only\]' && tried "user: flags" '\[user_only\]' && [[ "$(tip)" == "$logged" ]]
}

lets_a_document_pass() { tried document 'it is written' && [[ "$(grep -c 'as-user' .work/heard.txt)" == 1 ]]; }

# Three refusals, then it is let go, and that is written down. Where the program asks less often it ends before that.
is_let_go() {
  local finished=4 more=1
  case "$(told "a stop is")" in
    –) finished=1 more=0 ;;
    "refused once"*) finished=2 more=0 ;;
  esac
  [[ "$(noted_by_model '.finished ?? 0')" == "$finished" ]] || { echo "it finished $(noted_by_model '.finished ?? 0') times, not $finished"; return 1; }
  [[ "$(count_released)" == $((released + more)) ]] || { cat .agent/checkpoints.jsonl; return 1; }
}
count_released() { grep -c '"kind":"released"' .agent/checkpoints.jsonl; }

leaves_nothing() {
  clean cook hooks remove "$agent" || return 1
  [[ "$(list_settings)" == "$settings" ]] || { diff <(echo "$settings") <(list_settings); return 1; }
}

is_installed() {
  begin && settle_repo || return 1
  settings="$(list_settings)"
  clean cook hooks install "$agent" && [[ "$(list_settings)" != "$settings" ]] && clean cook hooks check "$agent"
}

drive_hooks() {
  local settings before logged released requests
  promise "hooks: are installed" is_installed
  promise "hooks: recovery $(told "recovery message")" hears_the_start
  # Two of them hear of it with the next prompt alone, or never, and a session by a script has one prompt.
  [[ "$agent" == cline || "$agent" == kimi ]] || promise "hooks: recovery after a compaction" hears_a_compaction
  promise "hooks: the guard" is_guarded
  promise "hooks: what is the user's alone" refuses_what_is_the_users
  promise "hooks: a here-document is data" lets_a_document_pass
  promise "hooks: a stop is: $(told "a stop is")" is_let_go
  promise "hooks: removed byte for byte" leaves_nothing
}
