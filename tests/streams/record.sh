#!/usr/bin/env bash
# Records what the real agent programs print, against a scripted model on loopback:
#   tests/streams/record.sh MOCK BIN
# MOCK: a program that plays `scenarios` (match, steps of text, shell, json, status) as OpenAI,
# Anthropic and Gemini endpoints, writes its port with --port-file; BIN: the directory of the agents' programs.
# Each stream is what cook itself keeps of a run, with this machine's paths taken out.
set -euo pipefail
mock=$1 bin=$2
here=$(cd "$(dirname "$0")" && pwd)
cook=${COOK:-$here/../../target/debug/cook}
work=$(mktemp -d)
trap 'kill "$mock_pid" 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir -p "$work/home/.codex" "$work/home/.gemini" "$work/home/.config/opencode" "$work/home/pi" "$work/repo"

cat > "$work/script.json" <<'JSON'
{"scenarios": [
  {"name": "tool", "match": "use a tool", "steps": [{"shell": "echo seen", "usage": [30, 4]}, {"text": "The tool said: seen.", "usage": [50, 6]}]},
  {"name": "error", "match": "fail now", "steps": [{"status": 401, "text": "no"}]},
  {"name": "refused", "match": "refuse now", "steps": [{"status": 400, "text": "no"}]},
  {"name": "schema", "match": "answer in JSON", "steps": [{"json": {"ok": true}, "usage": [25, 5]}]},
  {"name": "kill", "match": "take long", "steps": [{"text": "late", "delay_s": 60}]}],
 "default": {"text": "A plain answer.", "usage": [20, 3]}}
JSON
python3 "$mock" "$work/script.json" --port-file "$work/port" --max-seconds 900 > "$work/mock.out" 2>&1 &
mock_pid=$!
for _ in $(seq 50); do [ -s "$work/port" ] && break; sleep 0.1; done
url="http://127.0.0.1:$(cat "$work/port")"

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
  { [ "$agent" = claude ] || [ "$agent" = codex ] || [ "$agent" = opencode ]; } && more=()
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

for agent in ${AGENTS:-pi claude codex opencode gemini qwen copilot opencode-acp gemini-acp qwen-acp}; do
  record "$agent" success ask 'say something' --timeout 60s
  # One of them tries again for minutes after a 401.
  if [ "$agent" = claude ]; then words='refuse now'; else words='fail now'; fi
  record "$agent" error ask "$words" --timeout 40s
  record "$agent" tool act 'use a tool' --timeout 60s
  record "$agent" schema ask 'answer in JSON' --schema "$work/schema.json" --timeout 60s
  record "$agent" kill ask 'take long' --timeout 6s
done
