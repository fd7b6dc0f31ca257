#!/usr/bin/env bash
# Plants defects in what the last commits changed of `crates/mutants/src`, as one change, and counts those that the
# crate's own tests notice. What they do not notice is listed: a test is missing, or both texts mean the same.
#
#   proofs/own-strength.sh [COMMITS [DEFECTS [MINUTES]]]     10, 40, 20; COOK_BIN names the binary
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

readonly CODE=crates/mutants/src
commits=${1:-10} defects=${2:-40} minutes=${3:-20}
[[ "$commits$defects$minutes" =~ ^[0-9]+$ ]] || { sed -n '5s/^# *//p' "$0" >&2; exit 2; }
cook="${COOK_BIN:-$PWD/target/release/cook}"
[[ -x "$cook" ]] || cargo build --release --locked
cook="$(realpath -- "$cook")"
from="$(git log --no-merges --format=%H -n "$commits" -- "$CODE" | tail -n 1)"
work="$(mktemp -d)"
trap 'rm -rf -- "$work"' EXIT
# What this machine trusts and keeps is left alone.
export XDG_CONFIG_HOME="$work/config" XDG_STATE_HOME="$work/state" XDG_CACHE_HOME="$work/cache"

git clone -q . "$work/clone"
cd "$work/clone"
take() {
  git rm -rq "$CODE"
  git checkout -q "$1" -- "$CODE"
  git -c user.name=proof -c user.email=proof@localhost commit -q -m "$CODE as in $1"
}
take "$from~1"
take origin/HEAD
mkdir -p .agent
# The test of time says nothing of a defect beside other runs.
cat >.agent/cook.toml <<'T'
[gates.strength]
run = "cargo test -q --offline -p cook-mutants -- --skip thousands_of"
timeout = "10m"

[clean_room]
cache = ["target"]
setup = ["cargo fetch --locked"]
T
"$cook" strength --base HEAD~1 --mutants "$defects" --minutes "$minutes" --trust-repo
