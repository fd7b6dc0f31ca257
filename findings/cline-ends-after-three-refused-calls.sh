#!/usr/bin/env bash
# One would guess from its help (`--retries`: "maximum consecutive mistakes before exiting (default: 6)") that Cline ends
# a run after the sixth call in a row that fails, that a command which fails is such a call, and that the exit code of a run
# that was ended so is not 0. It ends after the third one; only a call that never ran counts (an unknown tool, one that a
# plug-in refuses), while a command with exit code 3 may fail for ever; and the exit code is 0, with an empty answer and the
# words "aborted by another client". A guard that refuses calls, and a model that tries another one each time, end in an
# answer without a word. `--retries` allows more.
# Seen with cline 3.0.65 on Linux, against a scripted model on loopback. Exit code 1: it is otherwise now; 77: the
# program could not be had.
set -euo pipefail

work=$(mktemp -d)
model=
trap '[[ -z "$model" ]] || kill "$model" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund cline@3.0.65 >/dev/null 2>&1 || exit 77
cline=$work/node_modules/.bin/cline
mkdir -p home/.cline/data/settings place
export CLINE_NO_AUTO_UPDATE=1 CLINE_SESSION_BACKEND_MODE=local
HOME=$work/home "$cline" --version || exit 77
HOME=$work/home "$cline" --help | grep -A 1 -e '--retries'

# A model that makes nine calls, and then says that it has finished: of tools that are not there, or of commands that fail.
cat >model.mjs <<'JS'
import { createServer } from "node:http";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
createServer((request, response) => {
  let text = "";
  request.on("data", (piece) => (text += piece));
  request.on("end", () => {
    const { messages = [] } = text ? JSON.parse(text) : {};
    appendFileSync("asked", "asked\n");
    const done = messages.filter(({ role }) => role === "tool").length;
    const called = readFileSync("call", "utf8").trim() === "command"
      ? { name: "run_commands", arguments: `{"commands": ["echo ${done}; exit 3"]}` }
      : { name: `no_tool_${done}`, arguments: "{}" };
    const call = { index: 0, id: `call_${done}`, type: "function", function: called };
    const said = done < 9 ? { role: "assistant", content: "", tool_calls: [call] } : { role: "assistant", content: "It is finished." };
    const usage = { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 };
    const head = { id: "chat-1", created: 1, model: "scripted", object: "chat.completion.chunk" };
    const piece = (delta, finish_reason, more) => `data: ${JSON.stringify({ ...head, ...more, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(piece(said, null) + piece({}, said.tool_calls ? "tool_calls" : "stop", { usage }) + "data: [DONE]\n\n");
  });
}).listen(0, "127.0.0.1", function () {
  writeFileSync("port", String(this.address().port));
});
JS
node model.mjs &
model=$!
for _ in $(seq 50); do [[ -s port ]] && break; sleep 0.1; done

cat >home/.cline/data/settings/providers.json <<JSON
{"version": 1, "lastUsedProvider": "openai-compatible", "modes": {}, "providers": {"openai-compatible": {"settings":
 {"provider": "openai-compatible", "apiKey": "none", "model": "scripted", "baseUrl": "http://127.0.0.1:$(cat port)/v1"},
 "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}}}
JSON

ask() {
  echo "$1" >call
  : >asked
  code=0
  echo "$ cline --json ${*:2} -- \"Do it.\"    # each call is of: $1"
  (cd place && HOME=$work/home timeout 100 "$cline" --json --auto-approve true "${@:2}" -- "Do it." </dev/null >"$work/said" 2>/dev/null) || code=$?
  last=$(grep '"type":"run_result"' said | grep -o '"finishReason":"[a-z]*"')
  echo "    exit code $code, $last, $(wc -l <asked) requests"
}

ask "no tool"
[[ $code == 0 && $last == *aborted* && $(wc -l <asked) == 3 ]]
ask "no tool" --retries 6
[[ $code == 0 && $last == *aborted* && $(wc -l <asked) == 6 ]]
ask "no tool" --retries 30
[[ $code == 0 && $last == *completed* && $(wc -l <asked) == 10 ]]
ask command
[[ $code == 0 && $last == *completed* && $(wc -l <asked) == 10 ]]
