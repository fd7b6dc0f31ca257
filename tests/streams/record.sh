#!/usr/bin/env bash
# Records what the real agent programs print, against a model on loopback (model.mjs):
#   tests/streams/record.sh BIN [AGENT...]
# BIN: a directory with the programs of all agents. Each stream is what cook itself keeps of a run, with this machine's paths
# taken out. Needs node.
set -euo pipefail
bin=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
cook=${COOK:-$here/../../target/debug/cook}
work=$(mktemp -d)
trap 'kill "$model" 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir -p "$work/home/.codex" "$work/home/.gemini" "$work/home/.qwen" "$work/home/.claude" "$work/home/.config/opencode" \
  "$work/home/.cline/data/settings" "$work/home/.kimi-code" "$work/home/pi" "$work/repo"

node "$here/../../proofs/real-agents/endpoint.mjs" "$work/port" none "$work" "$here/model.mjs" &
model=$!
for _ in $(seq 50); do [ -s "$work/port" ] && break; sleep 0.1; done
url="http://127.0.0.1:$(cat "$work/port")"
# fail STATUS: how the model answers from now on; 0 = as it does.
fail() { curl -s -d "{\"fail\": $1}" "$url/control" > /dev/null; }

cat > "$work/home/pi/models.json" <<JSON
{"providers": {"mock": {"baseUrl": "$url/v1", "api": "openai-completions", "apiKey": "zqzqz", "models": [{"id": "mock-model"}]}}}
JSON
cat > "$work/home/.codex/config.toml" <<TOML
model = "mock-model"
model_provider = "mock"
[model_providers.mock]
name = "mock"
base_url = "$url/v1"
wire_api = "responses"
env_key = "MOCK_ENTRY"
request_max_retries = 0
TOML
echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}}' > "$work/home/.gemini/settings.json"
echo '{"security": {"auth": {"selectedType": "openai"}}}' > "$work/home/.qwen/settings.json"
cat > "$work/home/.cline/data/settings/providers.json" <<JSON
{"version": 1, "lastUsedProvider": "openai-compatible", "modes": {}, "providers": {"openai-compatible": {"settings":
 {"provider": "openai-compatible", "apiKey": "zqzqz", "model": "mock-model", "baseUrl": "$url/v1"}, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}}}
JSON
cat > "$work/home/.kimi-code/config.toml" <<TOML
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
cat > "$work/home/.config/opencode/opencode.json" <<JSON
{"model": "mock/mock-model", "provider": {"mock": {"npm": "@ai-sdk/openai-compatible", "name": "mock",
 "options": {"baseURL": "$url/v1", "apiKey": "zqzqz"}, "models": {"mock-model": {"name": "mock-model"}}}}}
JSON

run() {
  env -i PATH="$(dirname "$cook"):$bin:/usr/bin:/bin" HOME="$work/home" TERM=dumb \
    GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 \
    GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org \
    PI_CODING_AGENT_DIR="$work/home/pi" PI_OFFLINE=1 MOCK_ENTRY=zqzqz \
    ANTHROPIC_BASE_URL="$url" ANTHROPIC_API_KEY=zqzqz CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
    GEMINI_API_KEY=zqzqz GOOGLE_GEMINI_BASE_URL="$url" \
    OPENAI_API_KEY=zqzqz OPENAI_BASE_URL="$url/v1" OPENAI_MODEL=mock-model \
    COPILOT_PROVIDER_BASE_URL="$url/v1" COPILOT_PROVIDER_API_KEY=zqzqz COPILOT_PROVIDER_TYPE=openai \
    COPILOT_MODEL=mock-model COPILOT_OFFLINE=true "$@"
}

cd "$work/repo"
run git init -q -b main
mkdir .agent
printf '[agents.pi]\nmodel = ["--provider", "mock", "--model", "{model}"]\n' > .agent/cook.toml
run git add -A
run git commit -q -m begin
run cook trust "$(run cook doctor agents | grep -o 'agent pi [0-9a-f]*')" --as-user
echo '{"type":"object","required":["ok"],"properties":{"ok":{"type":"boolean"}},"additionalProperties":false}' > "$work/schema.json"

# One run; the stream goes to AGENT/CASE.jsonl.
record() {
  local agent=$1 case=$2 model=mock-model
  shift 2
  [[ "$agent" == gemini* ]] && model=gemini-2.5-flash
  [ "$agent" = opencode-acp ] && model=mock/mock-model
  local more=(--model "$model")
  case "$agent" in claude | codex | opencode | cline | kimi) more=() ;; esac
  echo "$agent $case"
  run cook "$@" --agent "$agent" "${more[@]}" < /dev/null > /dev/null 2> "$work/said" || true
  local attempt
  attempt=$(ls -td .git/cook/sessions/attempts/* | head -1)
  mkdir -p "$here/$agent"
  # Lists of everything that could be chosen are long, and nothing reads them.
  sed -E -e "s#$work#/recorded#g" -e "s#$bin#/bin#g" -e "s#127.0.0.1:[0-9]*#127.0.0.1:1#g" \
    -e '/"available_commands_update"/d' -e 's/"options":\[\{"value"[^]]*\]/"options":[]/g' \
    -e 's/"available(Models|Modes)":\[[^]]*\]/"available\1":[]/g' "$attempt/stdout" > "$here/$agent/$case.jsonl"
  run git checkout -q -f main
  run git clean -qfd
}

# hooked FILE EVENT [BUT]: a hook of that event refuses, but where its input says BUT.
hooked() {
  cp "$work/home/$1" "$work/before" 2> /dev/null || echo '{}' > "$work/before"
  node -e 'const [before, file, event, but] = process.argv.slice(1), fs = require("fs");
    const hook = { hooks: [{ type: "command", command: `grep -Eq "${but}" || { echo not yet >&2; exit 2; }` }] };
    fs.writeFileSync(file, JSON.stringify({ ...JSON.parse(fs.readFileSync(before)), hooks: { [event]: [hook] } }));' \
    "$work/before" "$work/home/$1" "$2" "${3:-nothing of the kind}"
}

(($#)) || set -- pi claude codex opencode gemini qwen copilot cline opencode-acp gemini-acp qwen-acp kimi
for agent in "$@"; do
  record "$agent" success ask 'say something' --timeout 60s
  # One of them is ended at a 401.
  if [ "$agent" = claude ]; then fail 400; else fail 401; fi
  record "$agent" error ask 'fail now' --timeout 40s
  fail 0
  record "$agent" tool act 'use a tool' --timeout 60s
  record "$agent" schema ask 'answer in JSON' --schema "$work/schema.json" --timeout 60s
  case "$agent" in
    claude)
      hooked .claude/settings.json UserPromptSubmit
      record claude blocked ask 'say something' --timeout 40s
      hooked .claude/settings.json Stop
      record claude refused ask 'say something' --timeout 40s
      rm "$work/home/.claude/settings.json"
      ;;
    qwen)
      hooked .qwen/settings.json Stop 'stop_hook_active.: ?true'
      record qwen refused ask 'say something' --timeout 40s
      cp "$work/before" "$work/home/.qwen/settings.json"
      ;;
  esac
  record "$agent" kill ask 'take long' --timeout 6s
done
