#!/usr/bin/env bash
# One would guess that the answer of a tool reaches the model as the tool's server gave it, or that a long one is cut at its
# end. Cline writes the whole answer of an MCP server as one line of JSON, with `structuredContent` beside `content`, though
# it greets the server with a protocol (2024-11-05) that has no such field; and it cuts that line to 8,000 characters in the
# middle of a JSON string. What a server says twice, as the protocol asks it to, costs twice, so that an answer of 5,000
# characters has no end of the first copy and no beginning of the second.
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

# A server with one tool, which answers with a text and with the same beside it.
cat >server.mjs <<'JS'
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    appendFileSync(process.argv[2], params.protocolVersion);
    say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "long", version: "1" } });
  } else if (method === "tools/list") {
    say(id, { tools: [{ name: "read", description: "Reads.", inputSchema: { type: "object", properties: {} } }] });
  } else if (method === "tools/call") {
    const text = `begin ${"x".repeat(5000)} end`;
    say(id, { content: [{ type: "text", text }], structuredContent: { text }, isError: false });
  }
});
JS
echo "{\"mcpServers\": {\"long\": {\"command\": \"node\", \"args\": [\"$work/server.mjs\", \"$work/protocol\"]}}}" >home/.cline/data/settings/cline_mcp_settings.json

# A model that calls that tool once, and keeps what it was told.
cat >model.mjs <<'JS'
import { createServer } from "node:http";
import { writeFileSync } from "node:fs";
createServer((request, response) => {
  let text = "";
  request.on("data", (piece) => (text += piece));
  request.on("end", () => {
    const { messages = [], tools = [] } = text ? JSON.parse(text) : {};
    const told = messages.find(({ role }) => role === "tool");
    if (told) writeFileSync("told", typeof told.content === "string" ? told.content : told.content.map((one) => one.text).join(""));
    const tool = tools.map((one) => one.function.name).find((name) => /long.*read/.test(name));
    const call = { index: 0, id: "call_1", type: "function", function: { name: tool, arguments: "{}" } };
    const said = told ? { role: "assistant", content: "It is finished." } : { role: "assistant", content: "", tool_calls: [call] };
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

echo '$ cline --json --auto-approve true -- "Do it."'
(cd place && HOME=$work/home timeout 100 "$cline" --json --auto-approve true -- "Do it." </dev/null >"$work/said" 2>/dev/null)
echo "    it greets in the protocol of $(cat protocol); its model is told $(wc -m <told) characters:"
sed -E 's/x{20,}/xxx/g' told
[[ $(cat protocol) == 2024-11-05 && $(wc -m <told) == 8000 ]]
grep -q 'structuredContent' told || grep -q '"text":"begin' told
[[ $(grep -c 'truncated .* chars' told) == 1 ]]
node -e 'JSON.parse(require("fs").readFileSync("told", "utf8"))' 2>/dev/null && exit 1
exit 0
