#!/usr/bin/env bash
# What a log of 10,000 transitions costs on its way: `verify --from` of it reads and runs it again within
# the times and the memory that it prints; one of a million and one is refused.
#
#   proofs/long-log.sh            10,000 transitions, optimized
#   proofs/long-log.sh --short    300, as built for tests
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

release=(--release)
if [[ "${1:-}" == --short ]]; then
  release=()
  export TRANSITIONS=300
fi
# The log is made by thousands of flushes, which are not what is measured.
if [[ -w /dev/shm ]]; then
  export TMPDIR="${TMPDIR:-/dev/shm}"
fi
cargo test "${release[@]}" --test all cost::travel -- --ignored --nocapture
if [[ "${1:-}" != --short ]]; then
  cargo test --release --test all remote::hostile::a_log_of_a_million -- --ignored --nocapture
fi
