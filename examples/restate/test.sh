#!/usr/bin/env bash
# Two workers at once behind one address, one killed in the middle of a session: the other takes the mission over.
# shellcheck source=examples/job/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../job/lib.sh"

prepare() {
  command -v npm >/dev/null || skip "npm is not here"
  command -v curl >/dev/null || skip "curl is not here"
  if (($(node -p 'parseInt(process.versions.node)') < 22)); then
    # The SDK needs what Node.js has since 22.
    (cd "$(mktemp -d -p "$1")" && npm install --silent --no-audit --no-fund node@22 && mv node_modules "$1/node22") ||
      skip "Node.js is older than 22 here, and 22 cannot be installed"
    PATH="$1/node22/.bin:$PATH"
  fi
  # Its scripts would do nothing but count who installs it.
  (cd "$1" && npm install --silent --no-audit --no-fund --ignore-scripts \
    @restatedev/restate-server @restatedev/restate-sdk) || skip "the packages of Restate cannot be installed"
  "$1/node_modules/.bin/restate-server" --version >/dev/null || skip "Restate's server does not run here"
}
begin "$@"
export COOK_WAIT=1 RESTATE_DISABLE_TELEMETRY=true DO_NOT_TRACK=1
cp "$here"/*.mjs "$WORK"

begin_job
trusted_clone a
trusted_clone b
cd "$WORK"
# shellcheck disable=SC2016
read -r at a_port b_port < <(node -e '
  const all = [0, 1, 2].map(() => require("net").createServer().listen(0, "127.0.0.1"));
  setTimeout(() => { console.log(all.map((one) => one.address().port).join(" ")); process.exit(); }, 100);')

# On sockets below its own directory: no port of this machine is taken.
start server node_modules/.bin/restate-server --no-logo --listen-mode unix --base-dir "$WORK/restate" --node-name n
start balance node balance.mjs "$at" "$a_port" "$b_port"
start a node worker.mjs "$a_port" "$WORK/a"
a=$pid
start b node worker.mjs "$b_port" "$WORK/b"
b=$pid

socket() { find "$WORK/restate" -name "$1.sock" 2>/dev/null | head -1; }
has_socket() { [[ -n "$(socket "$1")" ]]; }
wait_for "the server" 60 has_socket admin
wait_for "the server" 60 has_socket ingress
admin() { curl -fsS --unix-socket "$(socket admin)" "$@"; }
ingress() { curl -fsS --unix-socket "$(socket ingress)" "$@"; }
register() {
  admin -H 'content-type: application/json' -d "{\"uri\": \"http://127.0.0.1:$at\"}" \
    http://localhost/deployments >"$WORK/deployment.json" 2>"$WORK/deployment.err"
}
wait_for "the registration" 60 register

key="$(node -p 'encodeURIComponent(process.argv[1])' "$WORK/remote.git#main")"
touch "$STATE/hang-implementer"
# Twice at once: the second call waits for the first, and finds the mission done.
ingress -X POST "http://localhost/cook/$key/work" >"$WORK/one.answer" 2>"$WORK/one.err" &
one=$!
ingress -X POST "http://localhost/cook/$key/work" >"$WORK/two.answer" 2>"$WORK/two.err" &
two=$!
kill_who_works "$a" "$b"
wait_for "the mission's end" 240 is_done
wait "$one" "$two"
[[ "$(cat "$WORK/one.answer" "$WORK/two.answer")" == '"done""done"' ]] || surprise "$(cat "$WORK"/*.answer)"
grep -q 'pushed' "$WORK/$other.out" || surprise "$other did not take it over"
echo "$other took it over"
check_done
