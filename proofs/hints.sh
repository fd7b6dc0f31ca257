#!/usr/bin/env bash
# Whoever types the command that an answer of cook names is not sent to an error: proofs/hints.sh [NAME...]
#
# Runs the tests of the commands (or those whose names hold NAME); each answer in them that says what to do next has that
# command typed in a copy of the repository as it stands there. Exits with 1 where one is no command, or leads back to where it
# was named. A command with a word to fill in is not typed, nor one that starts agents.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
found="$(mktemp)"
trap 'rm -f -- "$found"' EXIT
COOK_TYPE_HINTS="$found" cargo test --quiet --test all -- "${@:-cli::}"
sort -u -- "$found"
[[ ! -s "$found" ]] && echo "each command that was named and typed works where it is named"
