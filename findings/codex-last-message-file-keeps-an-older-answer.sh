#!/usr/bin/env bash
# One would guess that the file of `codex exec -o FILE` holds the last message of this run, or nothing where there was
# none, since a run whose model says nothing leaves it empty and warns. A run that fails (the provider refuses the
# request, exit code 1) does not touch it: it holds the answer of the run before. Who reads the file after the run takes
# an older verdict for this one.
# Seen with @openai/codex 0.171.0 on Linux, against a scripted model on loopback. Exit code 1: it is otherwise now; 77:
# the program could not be had.
set -euo pipefail

work=$(mktemp -d)
model=
trap '[[ -z "$model" ]] || kill "$model" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund @openai/codex@0.171.0 >/dev/null 2>&1 || exit 77
codex=$work/node_modules/.bin/codex
"$codex" --version || exit 77

# A model that approves, says nothing, or refuses the request, as the prompt asks.
cat >model.mjs <<'JS'
import { createServer } from "node:http";
import { writeFileSync } from "node:fs";
createServer((request, response) => {
  let text = "";
  request.on("data", (piece) => (text += piece));
  request.on("end", () => {
    if (text.includes("Refuse this.")) {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "refused", type: "invalid_request_error" } }));
      return;
    }
    const item = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [{ type: "output_text", text: "APPROVED", annotations: [] }] };
    const usage = { input_tokens: 9, input_tokens_details: { cached_tokens: 0 }, output_tokens: 9, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 18 };
    const events = [
      { type: "response.created", response: { id: "resp_1" } },
      ...(text.includes("Say nothing.") ? [] : [{ type: "response.output_item.done", output_index: 0, item }]),
      { type: "response.completed", response: { id: "resp_1", usage } },
    ];
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
  });
}).listen(0, "127.0.0.1", function () {
  writeFileSync("port", String(this.address().port));
});
JS
node model.mjs &
model=$!
for _ in $(seq 100); do [[ -s port ]] && break; sleep 0.1; done

mkdir -p home place
cat >home/config.toml <<TOML
model = "scripted"
model_provider = "loopback"
[model_providers.loopback]
name = "loopback"
base_url = "http://127.0.0.1:$(cat port)/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
TOML

ask() {
  echo "\$ codex exec -o last '$1'"
  status=0
  (cd place && env -i PATH="$PATH" HOME="$work" CODEX_HOME="$work/home" \
    timeout 60 "$codex" exec --skip-git-repo-check -o "$work/last" "$1" </dev/null >"$work/said" 2>"$work/errors") || status=$?
  echo "    exit code $status, the file holds '$(cat last)'"
}

ask 'Review this.'
[[ "$status" == 0 && "$(cat last)" == APPROVED ]] || exit 1
ask 'Refuse this.'
[[ "$status" == 1 && "$(cat last)" == APPROVED ]] || exit 1
ask 'Say nothing.'
[[ "$status" == 0 && -z "$(cat last)" ]] || exit 1
