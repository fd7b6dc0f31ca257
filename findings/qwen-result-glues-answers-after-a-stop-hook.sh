#!/usr/bin/env bash
# One would guess that `result` in the JSON output of Qwen Code is the last thing that its model said, as it is in a
# run in which tools are called between two answers, and in the program whose output it follows. Where a `Stop` hook
# refuses once, it is not: the answer that was refused and the one that came after it stand in one text without a
# blank between them, in `result` and in the one `assistant` message, whose usage is that of the last request alone.
# Whoever parses the answer, a JSON document say, finds two of them in one line.
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

# A model that counts its answers in a conversation.
cat >model.mjs <<'JS'
import { createServer } from "node:http";
import { writeFileSync } from "node:fs";
createServer((request, response) => {
  let text = "";
  request.on("data", (piece) => (text += piece));
  request.on("end", () => {
    const before = JSON.parse(text || "{}").messages?.filter((one) => one.role === "assistant") ?? [];
    const message = { role: "assistant", content: `{"answer": ${before.length + 1}}` };
    const usage = { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 };
    const head = { id: "chat-1", created: 1, model: "scripted", object: "chat.completion.chunk", usage };
    const piece = (delta, finish_reason) => `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(piece(message, null) + piece({}, "stop") + "data: [DONE]\n\n");
  });
}).listen(0, "127.0.0.1", function () {
  writeFileSync("port", String(this.address().port));
});
JS
node model.mjs &
model=$!
for _ in $(seq 50); do [[ -s port ]] && break; sleep 0.1; done

# A hook that refuses where a file says so, once.
printf '#!/bin/sh\ncat >/dev/null\n[ ! -e %s/refuse ] || { rm %s/refuse; echo "Answer again." >&2; exit 2; }\n' "$work" "$work" >Stop
chmod +x Stop
echo '{"security": {"auth": {"selectedType": "openai"}}, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "'"$work/Stop"'"}]}]}}' >home/.qwen/settings.json

ask() {
  (cd place && env -i PATH="$PATH" HOME="$work/home" OPENAI_API_KEY=none OPENAI_MODEL=scripted \
    OPENAI_BASE_URL="http://127.0.0.1:$(cat "$work/port")/v1" timeout 60 "$qwen" -o stream-json -p "Answer in JSON." </dev/null) |
    node -e 'for (const line of require("fs").readFileSync(0, "utf8").trim().split("\n")) {
      const event = JSON.parse(line);
      if (event.type === "result") console.log(event.result);
    }'
}
echo '$ qwen -o stream-json, with a hook that lets it stop'
once=$(ask)
echo "    result: $once"
touch refuse
echo '$ qwen -o stream-json, with a hook that refuses once'
twice=$(ask)
echo "    result: $twice"
[[ "$once" == '{"answer": 1}' && "$twice" == '{"answer": 1}{"answer": 2}' ]]
