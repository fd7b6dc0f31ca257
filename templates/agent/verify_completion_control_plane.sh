#!/usr/bin/env bash
@MARKER@
# Checks the completion control plane of this repository. Arguments go to `cook verify control-plane`;
# COOK_BIN names another program than the `cook` on PATH.
set -euo pipefail
unset CDPATH

cook="${COOK_BIN:-cook}"
case "$cook" in
  /*) ;;
  */*) cook="$PWD/$cook" ;;
esac
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if ! command -v "$cook" >/dev/null 2>&1; then
  printf 'error: the program "%s" is not installed\n' "$cook" >&2
  printf 'hint: install it with "cargo install cook-cli", or set COOK_BIN to where it is\n' >&2
  exit 127
fi
exec "$cook" verify control-plane "$@"
