#!/usr/bin/env bash
# Real agent programs under `cook run`, each from a fresh home against a scripted model on loopback:
#   proofs/real-agents.sh [--dir DIR] [--home DIR] [AGENT...]
#   proofs/real-agents.sh [--dir DIR] --mcp|--check|--goal|--abilities [AGENT...]
# AGENT: claude cline codex copilot gemini kimi opencode pi qwen, all by default. Their newest releases come from npm into
# DIR (target/real-agents by default: not below /tmp, which the sandbox hides); a version that protocol/agents/ does not name
# is marked with a star and named at the end. The homes lie there too, or below --home. For each: a job of two slices to `done` with the user's own git
# settings, tokens as the endpoint counted them, `cook ask`, and what is left after Ctrl-C, SIGTERM and a killed cook.
# --mcp: the agent does the job through cook's tools instead (real-agents/tools.sh). --check: cook check holds its stops
# (claude cline codex gemini kimi qwen; real-agents/stops.sh). --goal: a goal does (the same; real-agents/goals.sh), and where
# tmux is, also in a terminal and in the goal loop of the program's own (claude codex gemini qwen; real-agents/terminal.sh).
# --abilities: what docs/agents.md says that each can do (real-agents/abilities.sh). These print a yes, a `refused CODE` or a
# NO for each promise.
# Needs node, npm and curl. COOK_BIN names a cook; else this tree's is built.
set -uo pipefail
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)"
root="$(dirname -- "$here")"
dir="$root/target/real-agents"
homes=""
mode=--run
while [[ "${1:-}" == --* ]]; do
  case "$1" in
    --dir) dir="$2" && shift ;;
    --home) homes="$2" && shift ;;
    --mcp | --check | --goal | --abilities) mode="$1" ;;
    *) echo "unknown option: $1" >&2; exit 2 ;;
  esac
  shift
done
agents=("$@")
if ((!${#agents[@]})); then
  agents=(pi claude codex opencode qwen gemini copilot cline kimi)
  [[ "$mode" == --check || "$mode" == --goal ]] && agents=(claude codex gemini qwen kimi cline)
fi
for tool in node npm curl; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 2; }
done
if [[ -z "${COOK_BIN:-}" ]]; then
  (cd -- "$root" && cargo build --quiet --bin cook) || exit 2
  COOK_BIN="${CARGO_TARGET_DIR:-$root/target}/debug/cook"
fi
cook="$COOK_BIN"
mkdir -p "$dir"
dir="$(cd -- "$dir" && pwd -P)"
homes="${homes:-$dir}"
# shellcheck source=/dev/null
source "$root/smoke/job.sh"
name="Ada Example" address="ada@example.org"
wrong=0
# Releases that protocol/agents/ does not name.
unknown=()
endpoint=""
# Seconds that an implementer is told to sleep: they tell this run's processes from others.
naps=$((100000 + $$))
trap '[[ -n "$endpoint" ]] && kill "$endpoint" 2>/dev/null' EXIT

package_of() {
  case "$1" in
    claude) echo @anthropic-ai/claude-code ;;
    cline) echo cline ;;
    codex) echo @openai/codex ;;
    copilot) echo @github/copilot ;;
    gemini) echo @google/gemini-cli ;;
    kimi) echo @moonshot-ai/kimi-code ;;
    opencode) echo opencode-ai ;;
    pi) echo @earendil-works/pi-coding-agent ;;
    qwen) echo @qwen-code/qwen-code ;;
    *) echo "unknown agent: $1" >&2; return 1 ;;
  esac
}

# The model that must be named to it; none = its settings name one.
model_of() {
  case "$1" in
    pi) echo mock/mock-model ;;
    # By its own choice it asks another model first which one to ask.
    gemini) echo gemini-2.5-flash ;;
  esac
}

install() {
  local to="$dir/npm/$1" package
  package="$(package_of "$1")" || return 1
  mkdir -p "$to"
  [[ -f "$to/package.json" ]] || echo '{"private": true}' >"$to/package.json"
  # By its bare name npm takes an older one that an old node runs. One that is here is good enough without a registry.
  (cd -- "$to" && npm install --no-audit --no-fund --silent "$package@latest") || [[ -e "$to/node_modules/.bin/$1" ]]
}

# A fresh home with the user's git settings, and each agent's own ones, which name the endpoint at $url.
settle() {
  mkdir -p "$home"/{.cline/data/settings,.codex,.gemini,.kimi-code,.qwen,.config/opencode,pi,bin}
  ln -sf "$cook" "$home/bin/cook"
  printf '[user]\n\tname = %s\n\temail = %s\n' "$name" "$address" >"$home/.gitconfig"
  cat >"$home/pi/models.json" <<JSON
{"providers": {"mock": {"baseUrl": "$url/v1", "api": "openai-completions", "apiKey": "zqzqz", "models": [{"id": "mock-model"}]}}}
JSON
  cat >"$home/.codex/config.toml" <<TOML
model = "mock-model"
model_provider = "mock"
[model_providers.mock]
name = "mock"
base_url = "$url/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
TOML
  cat >"$home/.kimi-code/config.toml" <<TOML
default_model = "mock"
telemetry = false
[providers.mock]
type = "openai"
base_url = "$url/v1"
api_key = "zqzqz"
[models.mock]
provider = "mock"
model = "mock-model"
max_context_size = 128000
TOML
  cat >"$home/.cline/data/settings/providers.json" <<JSON
{"version": 1, "lastUsedProvider": "openai-compatible", "modes": {}, "providers": {"openai-compatible": {"settings":
 {"provider": "openai-compatible", "apiKey": "zqzqz", "model": "mock-model", "baseUrl": "$url/v1"},
 "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}}}
JSON
  # Two of them would tell their makers how they are used.
  local quiet='"privacy": {"usageStatisticsEnabled": false}'
  echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}, '"$quiet"'}' >"$home/.gemini/settings.json"
  echo '{"security": {"auth": {"selectedType": "openai"}}, '"$quiet"'}' >"$home/.qwen/settings.json"
  cat >"$home/.config/opencode/opencode.json" <<JSON
{"model": "mock/mock-model", "provider": {"mock": {"npm": "@ai-sdk/openai-compatible", "name": "mock",
 "options": {"baseURL": "$url/v1", "apiKey": "zqzqz"}, "models": {"mock-model": {"name": "mock-model", "limit": {"context": 128000, "output": 8000}}}}}}
JSON
}

# What a command is started by in that home, with nothing of the caller's environment but where programs are. CLAUDE_CODE_MAX_RETRIES is
# what users export: it closes no door. The key is a word of no report: one of them masks it in what it says.
surround() {
  around=(env -i PATH="$home/bin:$dir/npm/$agent/node_modules/.bin:$PATH" HOME="$home" TERM=dumb LC_ALL=C.UTF-8
    PI_CODING_AGENT_DIR="$home/pi" PI_OFFLINE=1 MOCK_KEY=zqzqz
    ANTHROPIC_BASE_URL="$url" ANTHROPIC_API_KEY=zqzqz CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 CLAUDE_CODE_MAX_RETRIES=2
    GEMINI_API_KEY=zqzqz GOOGLE_GEMINI_BASE_URL="$url"
    OPENAI_API_KEY=zqzqz OPENAI_BASE_URL="$url/v1" OPENAI_MODEL=mock-model
    COPILOT_PROVIDER_BASE_URL="$url/v1" COPILOT_PROVIDER_API_KEY=zqzqz COPILOT_PROVIDER_TYPE=openai
    COPILOT_MODEL=mock-model COPILOT_OFFLINE=true OPENCODE_DISABLE_MODELS_FETCH=1)
}

clean() { "${around[@]}" "$@"; }

# A repository in which the job may begin, but no command is trusted yet.
begin_untrusted() {
  local model=""
  [[ -n "$(model_of "$agent")" ]] && model="model = \"$(model_of "$agent")\""
  rm -rf "$repo"
  mkdir -p "$repo"
  cd -- "$repo" || return 1
  clean git init -q -b main && write_start && clean git add -A && clean git commit -qm "Begin tally" || return 1
  clean cook init --mission "$mission" --commit >/dev/null || return 1
  printf '\n[roles.default]\nagent = "%s"\n%s\ntimeout = "%s"\n' "$agent" "$model" "10m" >>.agent/cook.toml
  clean git commit -qam "Let $agent work" && clean cook init --as-user >/dev/null || return 1
  # One of them asks a person before it looks at a path outside of where it works.
  mkdir .work && cp "$here/real-agents/part.sh" "$root"/smoke/{steps,job}.sh .work/ || return 1
  # A login shell of theirs does not find what only this PATH has.
  ln -s "$cook" .work/cook && echo .work/ >>.git/info/exclude
}

begin() { begin_untrusted && trust_gate; }
trust_gate() { clean cook trust 'bash tests/run.sh' --as-user >/dev/null; }

# check WHAT COMMAND...: notes what does not hold.
check() {
  local what="$1"
  shift
  if "$@" >"$dir/$agent.check" 2>&1; then
    noted+=("yes")
  else
    noted+=("NO")
    wrong=1
    echo "$agent: does not hold: $what: $(tail -n 3 "$dir/$agent.check" | tr '\n' ' ')" >&2
  fi
}

counted() { curl -s "$url/counted" | node -pe "JSON.parse(require('fs').readFileSync(0))$1"; }
noted_by_model() { curl -s "$url/noted" | node -pe "JSON.stringify(JSON.parse(require('fs').readFileSync(0))$1)"; }
control() { curl -s -d "$1" "$url/control" >/dev/null; }
json() { node -pe "JSON.parse(require('fs').readFileSync(0))$1"; }

is_done() {
  [[ "$(clean cook next --json | json .policy)" == done ]] && clean cook verify --strict && clean cook session verify &&
    [[ -z "$(clean git status --porcelain)" ]]
}

is_by_the_user() {
  local who
  who="$(clean git log --grep '^Cook-Slice:' --format='%an <%ae> %cn <%ce>' | sort -u)"
  [[ "$who" == "$name <$address> $name <$address>" ]]
}

# What cook says that it took is what the endpoint counted; two of them tell nobody.
is_counted() {
  local cost
  cost="$(clean cook status --cost --json)"
  if [[ "$agent" == copilot || "$agent" == kimi ]]; then
    [[ "$(json .total.cost_unknown <<<"$cost")" == "$(json .total.calls <<<"$cost")" ]]
    return
  fi
  [[ "$(json .total.input_tokens <<<"$cost") $(json .total.output_tokens <<<"$cost")" == "$(counted .input) $(counted .output)" ]]
}

# Processes of a session of that cook, or of what its agent was told to start.
left() {
  local environ variables
  for environ in /proc/[0-9]*/environ; do
    variables="$({ tr '\0' '\n' <"$environ"; } 2>/dev/null)"
    [[ "$variables" == *COOK_INVOCATION=* ]] && grep -qxF "HOME=$home" <<<"$variables" && echo "${environ%/environ}"
  done
  pgrep -f "^sleep $naps" | sed 's/^/sleeps: /'
}

# ends_by SIGNAL...: a run whose agent is at work ends by these signals and leaves nothing; the run's exit code.
ends_by() {
  local pid waited=0 status signal
  begin || return 1
  # One of them refuses a line that begins with a sleep.
  control "{\"hang\": \"bash -c 'sleep $naps & setsid sleep $naps & sleep $naps'\"}"
  # A program that is started in the background ignores SIGINT unless it is told otherwise.
  "${around[@]}" env --default-signal=INT,TERM cook run >"$dir/$agent.run" 2>&1 &
  pid=$!
  # The step of the re-grounder comes before it.
  until pgrep -f "^sleep $naps" >/dev/null; do
    sleep 0.2
    ((waited += 1))
    ((waited < 1500)) && kill -0 "$pid" 2>/dev/null || { control '{"hang": ""}'; echo "nothing hung"; tail -n 3 "$dir/$agent.run"; return 1; }
  done
  for signal in "$@"; do
    kill -"$signal" "$pid"
    sleep 1
  done
  wait "$pid"
  status=$?
  control '{"hang": ""}'
  [[ "$*" == KILL ]] && clean cook run --steps 0 --yes >>"$dir/$agent.run" 2>&1
  sleep 0.5
  [[ -z "$(left)" ]] || { left; return 1; }
  [[ "$*" == KILL || "$status" == 130 ]] || { echo "it ended with $status"; return 1; }
}

row() { printf '| %-8s | %-9s | %-4s | %-6s | %-20s | %-3s | %-6s | %-7s | %-7s | %6s |\n' "$@"; }

# open_agent [PLAY]: the agent, its endpoint, and a fresh home.
open_agent() {
  install "$agent" || { echo "$agent: cannot be installed"; wrong=1; return 1; }
  home="$homes/home-$agent" repo="$dir/repo-$agent"
  rm -rf "$home" "$dir/port-$agent"
  node "$here/real-agents/endpoint.mjs" "$dir/port-$agent" "$here/real-agents/part.sh" "$repo" "$@" 2>"$dir/endpoint-$agent.err" &
  endpoint=$!
  until [[ -s "$dir/port-$agent" ]]; do sleep 0.1; done
  url="http://127.0.0.1:$(<"$dir/port-$agent")"
  settle
  surround
  # One of them unpacks itself at its first start, for longer than cook waits for an answer.
  clean "$agent" --version >/dev/null 2>&1
  version="$(clean cook -C "$root" doctor agents --json | json ".agents.find((row) => row.name === '$agent').version")"
  if ! grep -qF "\"$version\"" "$root/protocol/agents/$agent.toml"; then
    unknown+=("$agent $version; the table has $(sed -n 's/^verified = //p' "$root/protocol/agents/$agent.toml")")
    version+='*'
  fi
  noted=()
}

close_agent() {
  kill "$endpoint" 2>/dev/null
  wait "$endpoint" 2>/dev/null
  endpoint=""
  cd -- "$dir" || exit 2
}

# told COLUMN: what the tables of docs/agents.md say of this agent.
told() {
  awk -F ' *[|] *' -v agent="$agent" -v column="$1" '
    $2 == "agent" { at = 0; for (n = 3; n < NF; n++) if ($n == column) at = known = n }
    $2 == agent && at { print $at }
    END { if (!known) { print "docs/agents.md has no column " column > "/dev/stderr"; exit 1 } }
  ' "$root/docs/agents.md"
}

# by_hand PROMPT: the agent itself is asked, without cook around it, as a user's script does it.
by_hand() {
  case "$agent" in
    claude) set -- "$1" claude -p --permission-mode acceptEdits --allowedTools Bash mcp__cook ;;
    codex) set -- "$1" codex exec --skip-git-repo-check --dangerously-bypass-hook-trust -s workspace-write --add-dir .git - ;;
    gemini) set -- "$1" gemini --skip-trust --approval-mode yolo --model "$(model_of gemini)" ;;
    qwen) set -- "$1" qwen --approval-mode yolo ;;
    copilot) set -- "$1" copilot --allow-all --no-auto-update --no-color ;;
    # By its own choice it ends after three refused calls in a row.
    cline) set -- "$1" cline --retries 30 --auto-approve true -- "Do what follows." ;;
    kimi) set -- "" kimi -p "$1" ;;
    opencode) set -- "$1" opencode run --auto ;;
    pi) set -- "$1" pi --model "$(model_of pi)" -p ;;
    *) echo "$agent is not asked by hand here"; return 1 ;;
  esac
  clean timeout 600 "${@:2}" <<<"$1"
}

drive_all() {
  rows=()
  for agent in "${agents[@]}"; do
    open_agent || continue
    begin || { echo "$agent: the job cannot begin"; wrong=1; continue; }
    started=$SECONDS
    clean cook run >"$dir/$agent.out" 2>"$dir/$agent.err"
    took=$((SECONDS - started))
    check "the job is done" is_done
    check "the commits are the user's" is_by_the_user
    cost="$(clean cook status --cost --json)"
    tokens="$(json .total.input_tokens <<<"$cost")+$(json .total.output_tokens <<<"$cost") $(counted .input)+$(counted .output)"
    check "the tokens are those that the endpoint counted" is_counted
    [[ "${noted[2]}" == yes ]] && tokens="${tokens% *}" || tokens="NO: $tokens"
    sessions="$(json .total.calls <<<"$cost")"
    model=()
    [[ -n "$(model_of "$agent")" ]] && model=(--model "$(model_of "$agent")")
    check "ask" bash -c '[[ "$1" == *plum* ]]' _ "$(clean cook ask "Say plum" --agent "$agent" "${model[@]}" 2>"$dir/$agent.ask")"
    for signals in "INT INT" "TERM TERM" KILL; do
      # shellcheck disable=SC2086
      check "nothing is left after $signals" ends_by $signals
    done
    rows+=("$(row "$agent" "$version" "${noted[0]}" "${noted[1]}" "$tokens" "${noted[3]}" "${noted[4]}" "${noted[5]}" "${noted[6]}" "$took s / $sessions")")
    close_agent
  done
  row agent version done by-user "tokens in+out" ask Ctrl-C SIGTERM kill-9 "took"
  printf '%s\n' "${rows[@]}"
}

# Read whole before it runs: an edit meanwhile changes nothing.
# shellcheck source=/dev/null
main() {
  case "$mode" in
    --run) drive_all ;;
    --mcp) source "$here/real-agents/tools.sh" && drive_tools ;;
    --check) source "$here/real-agents/stops.sh" && drive_stops ;;
    --goal) source "$here/real-agents/stops.sh" && source "$here/real-agents/goals.sh" && source "$here/real-agents/terminal.sh" && drive_goals ;;
    --abilities) source "$here/real-agents/abilities.sh" && drive_abilities ;;
  esac
  ((!${#unknown[@]})) || printf '* not in protocol/agents/: %s\n' "${unknown[@]}"
  exit "$wrong"
}
main
