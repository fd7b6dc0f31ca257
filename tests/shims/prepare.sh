#!/usr/bin/env bash
# Puts the published types of Cline, opencode and pi, pi itself and a TypeScript compiler into a directory, for tests/pi and
# tests/hooks/shims.rs: COOK_NPM_DIR=DIR cargo test --test all -- pi:: hooks::shims::. Without it those tests say that they were skipped.
set -euo pipefail
dir="${1:?usage: prepare.sh DIR}"
put() {
  mkdir -p "$1"
  [[ -f "$1/package.json" ]] || printf '{"private": true}\n' >"$1/package.json"
  (cd "$1" && shift && npm install --ignore-scripts --no-audit --no-fund --silent "$@")
}
put "$dir" typescript @types/node @opencode-ai/plugin@1.18.33 @mariozechner/pi-coding-agent@0.73.1 @cline/shared@0.0.86
# pi goes on under another name.
put "$dir/next" @types/node @earendil-works/pi-coding-agent@0.87.1
