#!/usr/bin/env bash
# One would guess that `npm install NAME` installs what the tag `latest` names, and warns (EBADENGINE) where
# this Node.js is too old for it, as `npm install NAME@latest` does. A bare name is a range: npm takes the newest
# release whose `engines` this Node.js satisfies, and says nothing. Who follows an agent's install line on
# Node.js 20 runs an older agent and is not told.
# Seen with npm 11.19.1, Node.js 20.20.2 and the releases 2.1.197 and 2.1.332 of Claude Code, between which
# `engines` went from >=18 to >=22. Nothing is installed but npm: the lock file alone is written.
# Exit code 1: it is otherwise now; 77: npm could not be had, or Node.js is not 18 to 21.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
major=$(node --version | sed 's/^v\([0-9]*\).*/\1/') || exit 77
((major >= 18 && major < 22)) || exit 77
mkdir tools job
npm install --silent --no-audit --no-fund --prefix tools npm@11.19.1 >/dev/null 2>&1 || exit 77
cd job
agent=@anthropic-ai/claude-code

lock() {
  echo '{}' >package.json
  rm -f package-lock.json
  echo "\$ npm install $agent@'$1'"
  node ../tools/node_modules/npm/bin/npm-cli.js install --package-lock-only --no-audit --no-fund "$agent@$1" >said 2>&1 || exit 77
  taken=$(node -p "require('./package-lock.json').packages['node_modules/$agent'].version")
  warned=$(grep -c EBADENGINE said || true)
  echo "    version $taken, lines with EBADENGINE: $warned"
}

# What a bare name asks for, with an end that later releases do not move.
lock '2.1.197 - 2.1.332'
[[ "$taken" == 2.1.197 && "$warned" == 0 ]]
lock '2.1.332'
[[ "$taken" == 2.1.332 && "$warned" != 0 ]]
