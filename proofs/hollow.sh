#!/usr/bin/env bash
# Lets implementers write tests that look at nothing, under `[rules] strength = "require"`, where every
# reviewer and auditor says yes: no such slice may be accepted. Tests that look must be.
#
#   proofs/hollow.sh                          200 seeds
#   proofs/hollow.sh --short                  3
#   proofs/hollow.sh [--seeds N] [--from K] [--jobs J]
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

export COOK_HOLLOW=200
while (($# > 0)); do
  case $1 in
    --short) COOK_HOLLOW=3 ;;
    --seeds) COOK_HOLLOW=${2:?} && shift ;;
    --from) export COOK_HOLLOW_FROM=${2:?} && shift ;;
    --jobs) export COOK_HOLLOW_JOBS=${2:?} && shift ;;
    *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
  esac
  shift
done
exec cargo test --test all hollow_work -- --nocapture
