#!/usr/bin/env bash
# Histories and files that are odd and large: a storm of 50,000 renames, files of 100 MB, one line of 10 MB.
#
#   proofs/odd.sh            all of them, within 4 GiB of memory a process
#   proofs/odd.sh --short    what `cargo test` runs
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

ignored=(--include-ignored)
profile=(--release)
case "${1:-}" in
  --short) ignored=() profile=() ;;
  '') ;;
  *) echo "usage: proofs/odd.sh [--short]" >&2 && exit 2 ;;
esac
cargo test ${profile[@]+"${profile[@]}"} --test all --no-run
ulimit -v $((4 << 20))
exec cargo test ${profile[@]+"${profile[@]}"} --test all evidence::odd:: -- --test-threads 1 ${ignored[@]+"${ignored[@]}"}
