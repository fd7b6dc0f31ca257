#!/usr/bin/env bash
# One would guess that `gemini -p` ends with 1 where the provider refuses a request, whatever the form of its output:
# its documentation says "1: General error or API failure". With `-o json` or `-o stream-json` it ends with the HTTP
# status, of which a process keeps the lowest eight bits: 400 becomes 144, 403 becomes 147, 422 becomes 166. With `-o
# text` it is 1, as it is everywhere for 404. A caller that takes what lies above 128 for a signal, as a shell does,
# believes that the program was killed, and tries once more what was refused for good.
# Seen with @google/gemini-cli 0.61.0 on Linux, against a scripted provider on loopback. Exit code 1: it is otherwise
# now; 77: the program could not be had.
set -euo pipefail

work=$(mktemp -d)
provider=
trap '[[ -z "$provider" ]] || kill "$provider" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund @google/gemini-cli@0.61.0 >/dev/null 2>&1 || exit 77
gemini=$work/node_modules/.bin/gemini
mkdir -p home/.gemini place
"$gemini" --version || exit 77

# A provider that answers each request with the status in a file.
cat >provider.mjs <<'JS'
import { createServer } from "node:http";
import { readFileSync, writeFileSync } from "node:fs";
createServer((request, response) => {
  const code = Number(readFileSync("status", "utf8"));
  request.resume();
  request.on("end", () => {
    response.writeHead(code, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { code, message: "refused", status: "REFUSED" } }));
  });
}).listen(0, "127.0.0.1", function () {
  writeFileSync("port", String(this.address().port));
});
JS
node provider.mjs &
provider=$!
for _ in $(seq 100); do [[ -s port ]] && break; sleep 0.1; done
echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}}' >home/.gemini/settings.json

ask() {
  echo "$1" >status
  echo "\$ gemini -p hello -o $2, where the provider answers $1"
  code=0
  (cd place && env -i PATH="$PATH" HOME="$work/home" GEMINI_API_KEY=none GEMINI_CLI_TRUST_WORKSPACE=true \
    GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:$(cat "$work/port")" \
    timeout 60 "$gemini" -m gemini-2.5-flash -p hello -o "$2" </dev/null >"$work/said" 2>"$work/errors") || code=$?
  echo "    exit code $code"
}

ask 400 json
[[ "$code" == 144 ]] || exit 1
ask 400 text
[[ "$code" == 1 ]] || exit 1
ask 400 stream-json
[[ "$code" == 144 ]] || exit 1
ask 403 json
[[ "$code" == 147 ]] || exit 1
ask 422 json
[[ "$code" == 166 ]] || exit 1
ask 404 json
[[ "$code" == 1 ]] || exit 1
