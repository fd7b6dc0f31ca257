#!/usr/bin/env bash
# One would guess that TOX_OVERRIDE="testenv.pass_env+=NAME" hands NAME on in every environment, since
# every environment is built on [testenv]. It is added to what stands in that section: an environment
# with a `pass_env` of its own, or with an empty `base`, does not get it, and nothing is said.
# Seen with tox 4.67.15 on Linux. Exit code 1: it is otherwise now; 77: tox could not be had.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv tools && tools/bin/pip -q install tox==4.67.15 >/dev/null 2>&1 || exit 77
tools/bin/tox --version || exit 77
cat >tox.ini <<'INI'
[tox]
skipsdist = true
[testenv]
commands = python -c "import os; print('NAME =', os.environ.get('NAME'))"
[testenv:plain]
[testenv:own]
pass_env = OTHER
INI

run() {
  echo "\$ TOX_OVERRIDE=testenv.pass_env+=NAME tox -e $1"
  NAME=given TOX_OVERRIDE='testenv.pass_env+=NAME' tools/bin/tox -q -e "$1" 2>&1 | sed 's/^/    /' | tee seen
}

run plain
grep -q 'NAME = given' seen
run own
grep -q 'NAME = None' seen
