#!/usr/bin/env bash
# Installs the runners that tests/trial/runners.sh takes from a directory: pytest, jest, vitest and mocha, pinned.
#
#   tests/trial/prepare.sh DIR
#
# Needs python3, npm and the two registries; what stands in DIR already is left as it is. The other runners are
# those of the system: on Debian `apt-get install bats golang rake ruby-rspec ruby-minitest phpunit maven
# maven-debian-helper junit4 libsurefire-java jq`.
set -euo pipefail

if [ $# -ne 1 ]; then
  sed -n '2,4s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
mkdir -p -- "$1"
dir=$(cd -- "$1" && pwd -P)

pytest=9.2.0
packages=(jest@30.5.2 vitest@4.1.12 mocha@12.0.3)

if [ "$(cat "$dir/venv/pytest" 2>/dev/null)" != "$pytest" ]; then
  # A real interpreter: one that a version manager stands before asks for a home.
  python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
  "$python" -m venv "$dir/venv"
  "$dir/venv/bin/pip" install --quiet --disable-pip-version-check "pytest==$pytest"
  echo "$pytest" >"$dir/venv/pytest"
fi

if [ "$(cat "$dir/npm/installed" 2>/dev/null)" != "${packages[*]}" ]; then
  mkdir -p "$dir/npm"
  printf '{"name": "runners", "private": true}\n' >"$dir/npm/package.json"
  (cd "$dir/npm" && npm install --silent --no-audit --no-fund --save-exact "${packages[@]}" >&2)
  echo "${packages[*]}" >"$dir/npm/installed"
fi

"$dir/venv/bin/pytest" --version
for name in jest vitest mocha; do
  printf '%s %s\n' "$name" "$("$dir/npm/node_modules/.bin/$name" --version)"
done
