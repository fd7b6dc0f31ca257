#!/usr/bin/env bash
# One would guess that `node --test a.test.mjs gone.test.mjs` fails where the second file is not there, as it did, and
# as `node gone.test.mjs` does. Names are patterns since Node.js 21: one that matches nothing is left out, nothing is
# said, and the run is green where any other name matched a file. A pattern with a `*` that matches nothing is green
# even alone, with "tests 0"; only where all names are plain is it "Could not find". So a test file that was renamed,
# or that is not there in the commit that is tested, goes missing from a list of files without a word.
# Seen with node 26.10.0, and otherwise with node 20.20.2, on Linux. Exit code 1: it is otherwise now; 77: node could
# not be had.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for version in 20.20.2 26.10.0; do
  mkdir "$version"
  echo '{"private": true}' >"$version/package.json"
  npm install --silent --no-audit --no-fund --prefix "$version" "node@$version" >/dev/null 2>&1 || exit 77
  "$version/node_modules/.bin/node" --version || exit 77
done
mkdir place
echo 'import test from "node:test"; test("adds", () => {});' >place/a.test.mjs

run() {
  echo "\$ node-$1 --test ${*:2}"
  status=0
  (cd place && "../$1/node_modules/.bin/node" --test --test-reporter=tap "${@:2}" >"$work/said" 2>&1) || status=$?
  grep -E '^(not )?ok |^# tests |Could not find' said | sed "s|$work/place/||; s/^/    /"
  echo "    exit code $status"
}

run 20.20.2 a.test.mjs gone.test.mjs
[[ "$status" == 1 ]] && grep -q 'Could not find .*gone.test.mjs' said || exit 1
run 26.10.0 a.test.mjs gone.test.mjs
[[ "$status" == 0 ]] && grep -q '^ok 1 - adds' said || exit 1
! grep -q 'gone' said || exit 1
run 26.10.0 'gone/*.test.mjs'
[[ "$status" == 0 ]] && grep -q '^# tests 0' said || exit 1
run 26.10.0 gone.test.mjs
[[ "$status" == 1 ]] && grep -q 'Could not find' said || exit 1
