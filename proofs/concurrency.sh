#!/usr/bin/env bash
# Many processes on one repository: 8 of 200 commands each, and 4,000 reads beside
# a writer that packs the log. Nothing lost, nothing torn.
#
#   proofs/concurrency.sh            everything
#   proofs/concurrency.sh --short    what `cargo test` runs
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if [[ "${1:-}" == --short ]]; then
  exec cargo test --test all processes::concurrency:: -- --nocapture --test-threads=1
fi
exec cargo test --test all processes::concurrency:: -- --ignored --nocapture --test-threads=1
