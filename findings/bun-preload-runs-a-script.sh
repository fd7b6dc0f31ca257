#!/usr/bin/env bash
# One would guess that BUN_OPTIONS="--preload ./x.js" makes `bun test` read a file first, as the option
# on the command line does. The words of the variable are put before the command, and behind an option
# with a value `test` is no longer the command: bun runs the script "test" of package.json instead, and
# no test runs. With an option that has its value behind `=` the tests run.
# Seen with bun 1.4.5 on Linux. Exit code 1: it is otherwise now; 77: bun could not be had.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{"private": true, "scripts": {"test": "echo the script ran"}}' >package.json
npm install --no-audit --no-fund --no-save --loglevel=error bun@1.4.5 >npm.log 2>&1 || exit 77
bun=node_modules/.bin/bun
"$bun" --version || exit 77
echo 'import { test } from "bun:test"; test("the test ran", () => {});' >a.test.js
echo '' >x.js

run() {
  echo "\$ BUN_OPTIONS='$1' bun test"
  BUN_OPTIONS=$1 "$bun" test 2>&1 | sed 's/^/    /' | tee seen
}

run ''
grep -q '1 pass' seen
run '--preload ./x.js'
grep -q 'the script ran' seen
! grep -q '1 pass' seen || exit 1
run '--preload=./x.js'
grep -q '1 pass' seen
