#!/usr/bin/env bash
# One would guess that a `Stop` hook of Kimi Code which refuses each stop keeps the program at work until it does not,
# as with the hooks of that name of other programs, or until a limit. It is asked at the first stop of each prompt
# alone: when the model says for the second time that it has finished, the program ends without asking. The field
# `stop_hook_active` of the input, by which a hook elsewhere sees that it is asked again, is therefore always false.
# A test suite that stands in a `Stop` hook is not run on what the model did after it was refused.
# Seen with @moonshot-ai/kimi-code 2.1.0 on Linux, against a scripted model on loopback. Exit code 1: it is otherwise
# now; 77: the program could not be had (it needs node 22).
set -euo pipefail

work=$(mktemp -d)
model=
trap '[[ -z "$model" ]] || kill "$model" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund @moonshot-ai/kimi-code@2.1.0 >/dev/null 2>&1 || exit 77
kimi=$work/node_modules/.bin/kimi
mkdir -p home/.kimi-code place
export KIMI_CODE_NO_AUTO_UPDATE=1
HOME=$work/home "$kimi" --version 2>/dev/null || exit 77

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
    const call = { index: 0, id: "call_1", type: "function", function: { name: "Bash", arguments: '{"command": "true"}' } };
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

cat >home/.kimi-code/config.toml <<TOML
default_model = "scripted"
telemetry = false
[providers.scripted]
type = "openai"
base_url = "http://127.0.0.1:$(cat port)/v1"
api_key = "none"
[models.scripted]
provider = "scripted"
model = "scripted"
max_context_size = 128000
[[hooks]]
event = "Stop"
command = "cat >>$work/stops; echo >>$work/stops; echo 'It is not finished.' >&2; exit 2"
TOML

ask() {
  : >asked
  : >stops
  echo "\$ kimi $*"
  (cd place && HOME=$work/home timeout 60 "$kimi" "$@" </dev/null >"$work/said" 2>&1) || echo "    exit code $?"
  finished=$(grep -c 'It is finished' said)
  echo "    it said $finished times that it is finished; the hook was asked at $(wc -l <stops) stop:"
  sed 's/^/    /' stops
}

ask -p "Do it."
[[ $finished == 2 && $(wc -l <stops) == 1 && $(tail -n 1 asked) == *"It is not finished."* ]]
ask -c -p "Do more."
[[ $(wc -l <stops) == 1 ]]
! grep -q '"stop_hook_active":true' stops
