#!/usr/bin/env bash
# Clones of one bare remote that record at once with `sync = "each"`: 8 of 200 transitions each.
# Every acknowledged transition is in one chain, none lost, none forked.
#
#   proofs/race.sh            everything
#   proofs/race.sh --short    what `cargo test` runs
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if [[ "${1:-}" == --short ]]; then
  exec cargo test --test all remote::race:: -- --nocapture --test-threads=1
fi
exec cargo test --test all remote::race:: -- --ignored --nocapture --test-threads=1
