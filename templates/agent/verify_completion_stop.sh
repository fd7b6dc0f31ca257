#!/usr/bin/env bash
@MARKER@
# Checks the completion control plane, then the gates of .agent/cook.toml. Stops at the first failure.
# With --checks the gates alone: what is to hold in any clone, which has no control plane.
# Other arguments go to `cook verify control-plane`.
set -euo pipefail
unset CDPATH

case "${COOK_BIN:-}" in
  /*) ;;
  */*) export COOK_BIN="$PWD/$COOK_BIN" ;;
esac
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

# A gate that calls this script again would never end.
if ((SHLVL > 40)); then
  printf 'error: shells are %s deep here: a gate of this repository calls its stop verifier again\n' "$SHLVL" >&2
  exit 1
fi

gate=""
heading() {
  gate="$1"
  printf '\n== %s ==\n' "$gate"
}
trap 'printf "error: the gate \"%s\" failed\n" "$gate" >&2' ERR

if [[ "${1:-}" != --checks ]]; then
  heading 'control plane'
  bash .agent/verify_completion_control_plane.sh "$@"
fi
@CHECKS@
printf '\nevery gate passed\n'
