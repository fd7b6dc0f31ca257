#!/usr/bin/env bash
# One would guess that a `PreToolUse` hook of Cline which answers `cancel` refuses one call, and that the model reads
# `errorMessage` and does something else, as with the hooks of that name of other programs. It ends the whole run
# instead: the model is not asked again, its answer is empty, the message reaches nobody, and the exit code is 0, so
# that a script takes it for success. The words of a `UserPromptSubmit` and a `TaskStart` hook reach nobody either.
# A plug-in (`.cline/plugins/`) can refuse one call, with `{skip: true, reason}` from `beforeTool`.
# Seen with cline 3.0.65 on Linux, against a scripted model on loopback. Exit code 1: it is otherwise now; 77: the
# program could not be had.
set -euo pipefail

work=$(mktemp -d)
model=
trap '[[ -z "$model" ]] || kill "$model" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund cline@3.0.65 >/dev/null 2>&1 || exit 77
cline=$work/node_modules/.bin/cline
mkdir -p home/.cline/data/settings place/.cline/hooks
export CLINE_NO_AUTO_UPDATE=1 CLINE_SESSION_BACKEND_MODE=local
HOME=$work/home "$cline" --version || exit 77

# A model that calls a tool as long as no tool has answered it, and then says that it has finished.
cat >model.mjs <<'JS'
import { createServer } from "node:http";
import { appendFileSync, writeFileSync } from "node:fs";
createServer((request, response) => {
  let text = "";
  request.on("data", (piece) => (text += piece));
  request.on("end", () => {
    const { messages = [] } = text ? JSON.parse(text) : {};
    appendFileSync("asked", `${JSON.stringify(messages)}\n`);
    const call = { index: 0, id: "call_1", type: "function", function: { name: "run_commands", arguments: '{"commands": ["echo ran >ran"]}' } };
    const said = messages.some(({ role }) => role === "tool")
      ? { role: "assistant", content: "It is finished." }
      : { role: "assistant", content: "", tool_calls: [call] };
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
  : >asked
  code=0
  echo '$ cline --json --auto-approve true -- "Do it."'
  (cd place && HOME=$work/home timeout 60 "$cline" --json --auto-approve true -- "Do it." </dev/null >"$work/said" 2>/dev/null) || code=$?
  last=$(grep '"type":"run_result"' said | grep -o '"finishReason":"[a-z]*"')
  echo "    exit code $code, $last, $(wc -l <asked) requests"
}

for event in TaskStart UserPromptSubmit; do
  printf '#!/bin/sh\necho %s\n' "'{\"contextModification\": \"Words of a start.\"}'" >"place/.cline/hooks/$event.sh"
done
ask
! grep -q 'Words of a start' asked
[[ $code == 0 && $last == *completed* && $(wc -l <asked) == 2 && -e place/ran ]]
rm place/ran
printf '#!/bin/sh\necho %s\n' "'{\"cancel\": true, \"errorMessage\": \"Not this one.\"}'" >place/.cline/hooks/PreToolUse.sh
cat place/.cline/hooks/PreToolUse.sh
ask
[[ $code == 0 && $last == *aborted* && $(wc -l <asked) == 1 && ! -e place/ran ]]
! grep -q 'Not this one' asked said
rm place/.cline/hooks/PreToolUse.sh
mkdir place/.cline/plugins
cat >place/.cline/plugins/refuse.js <<'JS'
export default { name: "refuse", manifest: { capabilities: ["hooks"] }, hooks: { beforeTool: async () => ({ skip: true, reason: "Not this one." }) } };
JS
echo '    and a plug-in:'
ask
[[ $code == 0 && $last == *completed* && $(wc -l <asked) == 2 && ! -e place/ran ]]
grep -q 'Not this one' asked
