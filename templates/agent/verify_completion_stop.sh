#!/usr/bin/env bash
@MARKER@
# Checks the completion control plane, then what this repository checks itself. Stops at the first failure.
# Arguments go to `cook verify control-plane`.
set -euo pipefail
unset CDPATH

case "${COOK_BIN:-}" in
  /*) ;;
  */*) export COOK_BIN="$PWD/$COOK_BIN" ;;
esac
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
root="$(pwd -P)"

# A check that calls this script again would never end.
case ":${COOK_STOP_VERIFIER:-}:" in
  *":$root:"*)
    printf 'error: a check of this repository calls its stop verifier again\n' >&2
    exit 1
    ;;
esac
export COOK_STOP_VERIFIER="${COOK_STOP_VERIFIER:-}:$root"

check=""
heading() {
  check="$1"
  printf '\n== %s ==\n' "$check"
}
trap 'printf "error: the check \"%s\" failed\n" "$check" >&2' ERR

heading 'control plane'
bash .agent/verify_completion_control_plane.sh "$@"
@CHECKS@
printf '\nevery check passed\n'
