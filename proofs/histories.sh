#!/usr/bin/env bash
# Slices built and accepted while others edit code and tests and rewrite the history, by a seed. A seed that
# shows something wrong is printed: `--from SEED --histories 1` runs it alone.
#
#   proofs/histories.sh                 2,000 histories
#   proofs/histories.sh --short         4 histories, built without optimization
#   proofs/histories.sh --histories N --from K --jobs J
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

usage() {
  echo "usage: proofs/histories.sh [--short] [--histories N] [--from K] [--jobs J]" >&2
  exit 2
}

profile=(--release)
histories=2000
from=0
while (($# > 0)); do
  case $1 in
    --short) profile=() histories=4 ;;
    --histories) histories=${2:?} && shift ;;
    --from) from=${2:?} && shift ;;
    --jobs) export COOK_HISTORIES_JOBS=${2:?} && shift ;;
    *) usage ;;
  esac
  shift
done

export COOK_HISTORIES=$histories COOK_HISTORIES_FROM=$from
exec cargo test ${profile[@]+"${profile[@]}"} --test all evidence::random -- --ignored --nocapture
