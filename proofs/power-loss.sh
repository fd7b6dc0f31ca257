#!/usr/bin/env bash
# Power cuts on ext4: every write and flush of a block image is logged while
# transitions run, and the image is put back together as it was at each flush.
# A control run without syncs must fail. Needs root, FUSE, loop devices,
# qemu-storage-daemon, mkfs.ext4 and strace; says so and ends with 0 without them.
#
#   proofs/power-loss.sh             a cut at every flush
#   proofs/power-loss.sh --short     at every eighth
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if [[ "${1:-}" == --short ]]; then
  export POWER_STEP=8
fi
exec cargo test --test all -- --ignored --nocapture crash::a_power_cut_leaves_what_was_acknowledged
