#!/usr/bin/env bash
# Calls of the system that fail, one at a time, under every command: it ends within ten
# seconds, with a code, and never panics.
#
#   proofs/faults.sh            the first 40 of each call, each with every error
#   proofs/faults.sh --short    what `cargo test` runs
#   proofs/faults.sh 10         the first 10
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

case "${1:-}" in
--short) ;;
"") export COOK_FAULTS=40 ;;
*) export COOK_FAULTS="$1" ;;
esac
exec cargo test --test all cli::faults:: -- --nocapture --test-threads=1
