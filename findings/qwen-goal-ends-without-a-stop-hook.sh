#!/usr/bin/env bash
# One would guess that a `Stop` hook of Qwen Code is asked at each end of its work, as its documentation and that of
# the program it took the hook from say, and so also where its own `/goal` loop ends. It is not: a goal ends when the
# model calls the tool `update_goal` with the status `complete`, and the program ends then without a stop. The same
# prompt without a goal asks the hook. A test suite that stands in a `Stop` hook therefore holds nothing back in a
# goal; a `PreToolUse` hook for `update_goal` is asked.
# Seen with @qwen-code/qwen-code 0.24.4 on Linux, against a scripted model on loopback. Exit code 1: it is otherwise
# now; 77: the program could not be had.
set -euo pipefail

work=$(mktemp -d)
model=
trap '[[ -z "$model" ]] || kill "$model" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund @qwen-code/qwen-code@0.24.4 >/dev/null 2>&1 || exit 77
qwen=$work/node_modules/.bin/qwen
mkdir -p home/.qwen place
"$qwen" --version || exit 77

# A model that ends a goal by its tool where there is one, and else says that it has finished.
cat >model.mjs <<'JS'
import { createServer } from "node:http";
import { writeFileSync } from "node:fs";
createServer((request, response) => {
  let text = "";
  request.on("data", (piece) => (text += piece));
  request.on("end", () => {
    const body = text ? JSON.parse(text) : {};
    const tools = (body.tools ?? []).map((tool) => tool.function.name);
    const hasGoal = JSON.stringify(body.messages ?? []).includes("The plum is eaten");
    const ends = hasGoal && tools.includes("update_goal") && body.messages.at(-1).role !== "tool";
    const call = { index: 0, id: "call_1", type: "function", function: { name: "update_goal", arguments: '{"status": "complete", "reason": "It is done."}' } };
    const said = ends ? { role: "assistant", content: "", tool_calls: [call] } : { role: "assistant", content: "It is finished." };
    const usage = { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 };
    const head = { id: "chat-1", created: 1, model: "scripted" };
    const finish_reason = ends ? "tool_calls" : "stop";
    if (!body.stream) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ ...head, object: "chat.completion", usage, choices: [{ index: 0, message: said, finish_reason }] }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const piece = (delta, finish_reason) => `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", usage, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    response.end(piece(said, null) + piece({}, finish_reason) + "data: [DONE]\n\n");
  });
}).listen(0, "127.0.0.1", function () {
  writeFileSync("port", String(this.address().port));
});
JS
node model.mjs &
model=$!
for _ in $(seq 50); do [[ -s port ]] && break; sleep 0.1; done

# Each hook writes its name down.
for event in Stop PreToolUse; do
  printf '#!/bin/sh\ncat >/dev/null\necho %s >>%s/asked\n' "$event" "$work" >"$event"
  chmod +x "$event"
done
cat >home/.qwen/settings.json <<JSON
{
  "security": {"auth": {"selectedType": "openai"}},
  "hooks": {
    "Stop": [{"hooks": [{"type": "command", "command": "$work/Stop"}]}],
    "PreToolUse": [{"matcher": "update_goal", "hooks": [{"type": "command", "command": "$work/PreToolUse"}]}]
  }
}
JSON

ask() {
  : >asked
  echo "\$ qwen -p '$1'"
  (cd place && env -i PATH="$PATH" HOME="$work/home" OPENAI_API_KEY=none OPENAI_MODEL=scripted QWEN_CODE_SUPPRESS_YOLO_WARNING=1 \
    OPENAI_BASE_URL="http://127.0.0.1:$(cat "$work/port")/v1" \
    timeout 60 "$qwen" --approval-mode yolo -p "$1" </dev/null >"$work/said" 2>&1) || echo "    exit code $?"
  sed 's/^/    /' said
  echo "    hooks that were asked: $(tr '\n' ' ' <asked)"
}

ask 'Say that the work is finished.'
[[ "$(cat asked)" == Stop ]]
ask '/goal The plum is eaten.'
[[ "$(cat asked)" == PreToolUse ]]
