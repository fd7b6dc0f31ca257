#!/usr/bin/env bash
# Every state that reports, the user's commands and the repository can bring about, in each workflow of
# crates/protocol/tests/exploration: what must hold of each transition, and that `done` and a stop stay in reach.
#
#   proofs/exploration.sh            every state of every workflow
#   proofs/exploration.sh --short    the nearest states of each, what `cargo test` runs
#   proofs/exploration.sh WORDS      every state of the workflows whose names hold these words: undo,user
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

tests=()
case "${1:-}" in
--short) unset COOK_EXPLORE ;;
"") export COOK_EXPLORE=whole ;;
# What all workflows together must have met is not asked of some.
*) export COOK_EXPLORE="$1" && tests=(from_every the_prompt) ;;
esac
exec cargo test -p cook-protocol --test exploration -- --nocapture "${tests[@]}"
