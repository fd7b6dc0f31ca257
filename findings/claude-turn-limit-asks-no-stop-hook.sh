#!/usr/bin/env bash
# One would guess that a run of `claude -p` ends through its hook `Stop`, or through `StopFailure` where it does not
# come to its end, as the documentation divides them. Where `--max-turns` ends it, after a tool has done its work,
# neither is asked: only `SessionEnd` is, which cannot hold anything back. So tests that stand in the hook `Stop` do
# not run over what the agent wrote until then. Each stop that such a hook refuses uses up a turn too: with the limit
# at 1 a refusal ends the run, the hook is not asked again, and the work stays as it was refused.
# Seen with @anthropic-ai/claude-code 2.1.332 on Linux, against a scripted model on loopback. Exit code 1: it is
# otherwise now; 77: the program could not be had.
set -euo pipefail

work=$(mktemp -d)
model=
trap '[[ -z "$model" ]] || kill "$model" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund @anthropic-ai/claude-code@2.1.332 >/dev/null 2>&1 || exit 77
claude=$work/node_modules/.bin/claude
mkdir -p home place
HOME=$work/home "$claude" --version || exit 77

# A model that writes a file at each turn where the prompt says so, and else says that it has finished.
cat >model.mjs <<'JS'
import { createServer } from "node:http";
import { writeFileSync } from "node:fs";
let count = 0;
createServer((request, response) => {
  let text = "";
  request.on("data", (piece) => (text += piece));
  request.on("end", () => {
    const writes = text.includes("Write for ever.") && text.includes('"Bash"');
    const id = `toolu_${++count}`;
    const input = { command: "echo written >>it", description: "Write" };
    const [block, delta] = writes
      ? [{ type: "tool_use", id, name: "Bash", input: {} }, { type: "input_json_delta", partial_json: JSON.stringify(input) }]
      : [{ type: "text", text: "" }, { type: "text_delta", text: "It is finished." }];
    const usage = { input_tokens: 9, output_tokens: 9 };
    const message = { id: `msg_${count}`, type: "message", role: "assistant", model: "scripted", content: [], stop_reason: null, stop_sequence: null, usage };
    const stop_reason = writes ? "tool_use" : "end_turn";
    const events = [
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
      { type: "message_stop" },
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

# Each hook writes its name down; `Stop` refuses where a file says so.
for event in Stop StopFailure SessionEnd; do
  printf '#!/bin/sh\ncat >/dev/null\necho %s >>%s/asked\n' "$event" "$work" >"$event"
  chmod +x "$event"
done
printf '[ ! -e %s/refuse ] || { echo "The tests are red." >&2; exit 2; }\n' "$work" >>Stop
hooks=$(for event in Stop StopFailure SessionEnd; do
  printf '"%s": [{"hooks": [{"type": "command", "command": "%s"}]}],' "$event" "$work/$event"
done)
echo "{\"hooks\": {${hooks%,}}}" >settings.json

ask() {
  : >asked
  rm -f place/it
  echo "\$ claude -p '$1' --max-turns $2"
  status=0
  (cd place && env -i PATH="$PATH" HOME="$work/home" ANTHROPIC_API_KEY=none ANTHROPIC_BASE_URL="http://127.0.0.1:$(cat "$work/port")" \
    IS_SANDBOX=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 timeout 60 "$claude" -p "$1" --max-turns "$2" --settings "$work/settings.json" \
    --permission-mode bypassPermissions </dev/null >"$work/said" 2>&1) || status=$?
  sed '/^$/d; s/^/    /; $a\' said
  echo "    lines in the file: $(cat place/it 2>/dev/null | wc -l)"
  echo "    hooks that were asked: $(tr '\n' ' ' <asked)"
  echo "    exit code $status"
}

ask 'Say that it is finished.' 2
[[ "$status" == 0 && "$(tr '\n' ' ' <asked)" == 'Stop SessionEnd ' ]] || exit 1
ask 'Write for ever.' 2
[[ "$status" == 1 && "$(cat place/it | wc -l)" == 2 && "$(tr '\n' ' ' <asked)" == 'SessionEnd ' ]] || exit 1
grep -q 'max turns' said || exit 1
touch refuse
ask 'Say that it is finished.' 1
[[ "$status" == 1 && "$(tr '\n' ' ' <asked)" == 'Stop SessionEnd ' ]] && grep -q 'max turns' said || exit 1
