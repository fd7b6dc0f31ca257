#!/usr/bin/env bash
# One would guess that `codex exec resume NAME PROMPT` fails where no session has this name, since the same call with an
# id that is not there does: "no rollout found", exit code 1. With a name it begins a new session, says nothing of it on
# either stream, answers the prompt without the history that was asked for, and ends with 0. A mistyped name, or another
# home directory, thus gives a reviewer that never saw the work.
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

# A model that says how many messages of users it was shown that begin with "Remember".
cat >model.mjs <<'JS'
import { createServer } from "node:http";
import { writeFileSync } from "node:fs";
createServer((request, response) => {
  let text = "";
  request.on("data", (piece) => (text += piece));
  request.on("end", () => {
    const seen = text.includes("Remember the plum") ? "I was shown the plum." : "I was shown no plum.";
    const item = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [{ type: "output_text", text: seen, annotations: [] }] };
    const usage = { input_tokens: 9, input_tokens_details: { cached_tokens: 0 }, output_tokens: 9, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 18 };
    const events = [
      { type: "response.created", response: { id: "resp_1" } },
      { type: "response.output_item.done", output_index: 0, item },
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
  echo "\$ codex exec ${*@Q}"
  status=0
  (cd place && env -i PATH="$PATH" HOME="$work" CODEX_HOME="$work/home" \
    timeout 60 "$codex" exec --skip-git-repo-check "$@" </dev/null >"$work/said" 2>"$work/errors") || status=$?
  session=$(sed -n 's/^session id: //p' errors)
  sed 's/^/    /' said
  grep '^Error' errors | sed 's/^/    /' || true
  echo "    session ${session:-none}, exit code $status"
}

ask 'Remember the plum.'
first=$session
[[ "$status" == 0 && -n "$first" ]] || exit 1
ask resume "$first" 'What were you shown?'
[[ "$status" == 0 && "$session" == "$first" ]] && grep -q 'shown the plum' said || exit 1
ask resume 00000000-0000-0000-0000-000000000000 'What were you shown?'
[[ "$status" == 1 && -z "$session" ]] || exit 1
ask resume the-plum 'What were you shown?'
[[ "$status" == 0 && -n "$session" && "$session" != "$first" ]] && grep -q 'shown no plum' said || exit 1
! grep -qi '^error\|the-plum\|no session' errors || exit 1
