#!/usr/bin/env bash
# What `cook check` and `cook goal` cost in an npm workspace of 40 members of which one changed, beside that member's own
# gate: benches/first-minute.sh [COOK]. Needs node and npm; no network. Prints seconds and ratios from one run.
set -euo pipefail
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)"
if [[ "${1:-}" != --clean ]]; then
  cook="$(realpath -- "${1:-target/release/cook}")"
  exec env -i PATH="$PATH" LC_ALL=C TERM=dumb COOK_BIN="$cook" bash "${BASH_SOURCE[0]}" --clean
fi
# shellcheck source=/dev/null
source "$here/../smoke/steps.sh"
work="$(mktemp -d)"
trap 'chmod -R u+w -- "$work"; rm -rf -- "$work"' EXIT
clean_room "$work"
members=40

# seconds COMMAND...: what it took; it may end with any code.
seconds() {
  local from to
  from=$(date +%s%N)
  "$@" >"$work/said" 2>&1 || true
  to=$(date +%s%N)
  awk -v n=$((to - from)) 'BEGIN { printf "%.3f", n / 1e9 }'
}

# tell WHAT SECONDS [BESIDE]
tell() { awk -v what="$1" -v a="$2" -v b="${3:-0}" 'BEGIN { printf "%-52s %7.3f s", what, a; if (b > 0) printf "   ratio %.2f", a / b; print "" }'; }

git init --quiet --initial-branch=main "$work/mono"
cd "$work/mono"
echo '{"name": "mono", "private": true, "workspaces": ["packages/*"]}' >package.json
echo node_modules/ >.gitignore
for ((n = 1; n <= members; n++)); do
  mkdir -p "packages/m$n/test"
  echo "{\"name\": \"m$n\", \"version\": \"1.0.0\", \"scripts\": {\"test\": \"node --test\"}}" >"packages/m$n/package.json"
  echo "exports.add = (number) => number + $n;" >"packages/m$n/index.js"
  # A test that takes as long as a small suite does.
  printf 'const test = require("node:test");\nconst until = Date.now() + 2000;\ntest("adds %s", () => { while (Date.now() < until); require("node:assert").equal(require("..").add(1), %s); });\n' "$n" "$((n + 1))" >"packages/m$n/test/add.test.js"
done
npm install --offline --no-audit --no-fund --silent
git add --all
git commit --quiet --message "Begin"
change() {
  echo "exports.add = (number) => $1;" >packages/m7/index.js
  git commit --quiet --all --message "Change m7"
}
change "7 + number"
gate=$(cd packages/m7 && seconds npm test)
tell "the member's own gate" "$gate"
tell "first cook check: install, base and head" "$(seconds cook check --trust-repo)" "$gate"
change "number + 7 + 0"
tell "cook check, the base was checked before" "$(seconds cook check --trust-repo --base HEAD~1)" "$gate"
tell "the same again" "$(seconds cook check --trust-repo --base HEAD~1)"
sed -i 's/8)/9)/' packages/m7/test/add.test.js
git commit --quiet --all --message "Ask for nine"
cook goal "m7 adds eight" --check 'node --test packages/m7/test/add.test.js' --as-user >/dev/null
cook goal >"$work/said" 2>&1 || true
tell "cook goal, nothing new" "$(seconds cook goal)"
