# shellcheck shell=bash
# `cook mcp`: what an agent may call, and some calls.
# shellcheck source=tests/contract/stages.sh
source "$CONTRACT/stages.sh"
selected tally
put "$ROOM/calls" <<'JSON'
{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "client", "version": "1"}}}
{"jsonrpc": "2.0", "method": "notifications/initialized"}
{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
{"jsonrpc": "2.0", "id": 3, "method": "resources/list"}
{"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "next", "arguments": {}}}
{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "status", "arguments": {}}}
{"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": "record", "arguments": {"role": "implementer", "report": "nothing"}}}
{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "no-such-tool", "arguments": {}}}
{"jsonrpc": "2.0", "id": 8, "method": "resources/read", "params": {"uri": "cook://mission"}}
{"jsonrpc": "2.0", "id": 9, "method": "no/such"}
not json
{"jsonrpc": "2.0", "id": 10, "method": "ping"}
JSON
serve() {
  timeout 20 "$COOK" mcp <"$ROOM/calls" >"$ROOM/answers"
  local status=$?
  jq -sc 'sort_by(.id)[]' "$ROOM/answers"
  return "$status"
}
each() {
  serve | jq -c 'if .id == 5 then .result.structuredContent |= keys else . end' >"$ROOM/sorted"
  local status="${PIPESTATUS[0]}"
  jq -r -s 'map({key: "\(.id)", value: (. | del(.id))}) | from_entries' "$ROOM/sorted"
  return "$status"
}
record "cook mcp < ten calls" json each
