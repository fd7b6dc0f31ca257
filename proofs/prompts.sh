#!/usr/bin/env bash
# What prompts cost in tokens: of a job of 50 slices under `strict`, whose last slice costs what its second
# does, and of plans of 1,000 and 5,000 slices.
#
#   proofs/prompts.sh            all of them
#   proofs/prompts.sh --short    ten slices, and a plan of 1,000
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

cargo test --test all cost::prompts -- --nocapture
if [[ "${1:-}" != --short ]]; then
  cargo test --test all cost::prompts -- --ignored --nocapture
fi
