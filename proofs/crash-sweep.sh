#!/usr/bin/env bash
# A fault at every system call of every kind of transition: SIGKILL, EIO, ENOSPC.
# Then recovery by cook itself. Prints the figures; fails unless nothing is mixed,
# lost, stuck or reported untruly.
#
#   proofs/crash-sweep.sh            everything (long: see proofs/README.md)
#   proofs/crash-sweep.sh --short    what `cargo test` runs
#   proofs/crash-sweep.sh KIND...    these kinds, whole
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if ! command -v strace >/dev/null; then
  echo "skipped: strace is not installed"
  exit 0
fi
if [[ "${1:-}" == --short ]]; then
  exec cargo test --test all -- --nocapture crash::an_interrupted_transition_happened_or_did_not
fi
if (($# > 0)); then
  SWEEP_KINDS="$(IFS=,; echo "$*")"
  export SWEEP_KINDS
fi
# cook looks at every process of the machine: alone it makes the same calls each time. The shell takes in
# what killed commands leave behind, or every later one would have to look at that too.
alone=(unshare --pid --fork --kill-child --mount-proc bash -c '"$@"; exit $?' --)
if ! "${alone[@]}" true 2>/dev/null; then
  alone=()
fi
# Optimized: some 60,000 commands are started a few times each.
exec ${alone[@]+"${alone[@]}"} cargo test --release --test all -- --ignored --nocapture crash::the_whole_sweep
