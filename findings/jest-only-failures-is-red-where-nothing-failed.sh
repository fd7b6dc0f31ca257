#!/usr/bin/env bash
# One would guess that `jest --onlyFailures` is green behind a green run: nothing failed, so nothing is left to run, as
# for `jest --onlyChanged` where nothing changed. It says "No failed test found." and ends with 1. So a loop that goes
# on until the failed tests pass is green once, where the last of them is mended, and red ever after, without a red
# test; and in a fresh checkout, which knows of no run, it is red too. --onlyChanged in the same place ends with 0.
# Seen with jest 30.5.2 on Linux. Exit code 1: it is otherwise now; 77: jest could not be had.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund jest@30.5.2 >/dev/null 2>&1 || exit 77
node_modules/.bin/jest --version || exit 77
export HOME=$work GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.com
echo 'node_modules' >.gitignore
echo 'test("adds", () => { expect(1 + 1).toBe(Number(process.env.SUM)); });' >a.test.js
git init -q -b main . && git add . && git commit -q -m 'a test'

run() {
  echo "\$ SUM=$1 jest ${*:2}"
  status=0
  SUM=$1 node_modules/.bin/jest --ci --cacheDirectory="$work/.git/cache" "${@:2}" >said 2>&1 || status=$?
  grep -E '^Tests: |^No ' said | sed 's/^/    /'
  echo "    exit code $status"
  rm said
}

run 2 --onlyFailures
[[ "$status" == 1 ]] || exit 1
run 3
[[ "$status" == 1 ]] || exit 1
run 2 --onlyFailures
[[ "$status" == 0 ]] || exit 1
run 2 --onlyFailures
[[ "$status" == 1 ]] || exit 1
run 2 --onlyChanged
[[ "$status" == 0 ]] || exit 1
