#!/usr/bin/env bash
# One would guess that `bats --tap --timing` tells a test's time where TAP has place for it, behind a `#`, as bats does
# when it writes a report beside its output (`ok 1 it answers # in 4 ms`), or in a YAML block, as its form tap13 does.
# It puts it into the description: `ok 1 it answers in 4ms`. So a test has another name in each run, and whoever
# compares two runs by name finds that every test is gone and that others came.
# Seen with bats 1.13.0 on Linux. Exit code 1: it is otherwise now; 77: bats could not be had.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund bats@1.13.0 >/dev/null 2>&1 || exit 77
bats=$work/node_modules/bats/bin/bats
"$bats" --version || exit 77
cat >it.bats <<'BATS'
@test "it answers" { sleep "0.$WAIT"; }
BATS

run() {
  echo "\$ WAIT=$1 bats ${*:2}"
  WAIT=$1 "$bats" "${@:2}" it.bats 2>&1 | tee said | sed 's/^/    /'
}

run 1 --tap --timing
grep -qE '^ok 1 it answers in [0-9]+ms$' said || exit 1
first=$(grep '^ok' said)
run 3 --tap --timing
grep -qE '^ok 1 it answers in [0-9]+ms$' said || exit 1
[[ "$(grep '^ok' said)" != "$first" ]] || exit 1
run 1 --tap --report-formatter junit --output .
grep -qE '^ok 1 it answers # in [0-9]+ ms$' said || exit 1
run 1 --formatter tap13 --timing
grep -qE '^ok 1 it answers$' said && grep -q 'duration_ms: ' said || exit 1
