#!/usr/bin/env bash
# `cook run` against agents that misbehave by a seed, killed at random moments and started again.
#
#   proofs/seeds.sh                     200 seeds
#   proofs/seeds.sh --short             8 seeds
#   proofs/seeds.sh --seeds N --from K --jobs J
#   proofs/seeds.sh --seeds N --sandbox  agents and gates in bubblewrap's
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if (($# == 0)); then
  set -- --seeds 200 --jobs 4
fi
exec cargo test --test seeds -- "$@"
