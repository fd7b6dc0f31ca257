#!/usr/bin/env bash
# Packs the wrapper and this platform's package around a binary, installs both from their archives alone, and runs
# `cook`: npm/test.sh BINARY. 77 without npm.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
command -v npm >/dev/null || { echo "npm is not here" >&2; exit 77; }
binary="$(realpath -- "${1:?usage: npm/test.sh BINARY}")"
work="$(mktemp -d)"
trap 'rm -rf -- "$work"' EXIT
key="$(node -p '`${process.platform}-${process.arch}`')"
node npm/build.mjs "$work/packages" "$key=$binary"
# What was built for another platform, or is no program, is not packed.
other=darwin-arm64
[[ "$key" != "$other" ]] || other=linux-x64
for wrong in "$other=$binary" "$key=npm/test.sh" "$key=$work/absent"; do
  status=0
  node npm/build.mjs "$work/wrong" "$wrong" 2>"$work/err" || status=$?
  [[ "$status" == 2 && ! -e "$work/wrong" ]] && grep -q "next:" "$work/err" || { echo "$wrong ended with $status" >&2; exit 1; }
done
mkdir "$work/archives" "$work/project"
for name in agent-cook "agent-cook-$key"; do
  (cd "$work/packages/$name" && npm pack --silent --pack-destination "$work/archives" >/dev/null)
done
cd "$work/project"
npm init -y >/dev/null
npm install --offline --ignore-scripts --no-audit --no-fund --silent "$work/archives/"*.tgz
wanted="$("$binary" --version)"
found="$(./node_modules/.bin/cook --version)"
[[ "$found" == "$wanted" ]] || { echo "\`$found\` instead of \`$wanted\`" >&2; exit 1; }
# The ending and both streams are those of the program.
status=0
./node_modules/.bin/cook --no-such-option >out 2>err || status=$?
[[ "$status" == 2 && ! -s out && -s err ]] || { echo "ended with $status" >&2; exit 1; }
rm -rf "node_modules/agent-cook-$key"
status=0
./node_modules/.bin/cook --version >out 2>err || status=$?
[[ "$status" == 3 ]] && grep -q "next:" err || { echo "without its platform it ended with $status" >&2; exit 1; }
echo "npm: $wanted"
