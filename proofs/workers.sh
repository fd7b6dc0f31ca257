#!/usr/bin/env bash
# Two workers (`cook run --once --from`) over one bare remote, each step killed after a while that a seed draws: the
# mission is done, once, whatever they were at, and both clones stand where the remote does.
#
#   proofs/workers.sh            100 seeds, or as many as $WORKER_SEEDS says
#   proofs/workers.sh --short    two seeds
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if [[ "${1:-}" == --short ]]; then
  export WORKER_SEEDS=2
fi
exec cargo test --test all remote::worker::workers_that -- --ignored --nocapture --test-threads=1
