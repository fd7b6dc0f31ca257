#!/usr/bin/env bash
# The main job of cook, from `cook init` to `done`, on a small real program, and the seed's own flow.
#
#   ./smoke/smoke.sh              builds cook (dev profile) and runs both
#   COOK_BIN=/path/to/cook ...    uses that program instead of building one
#   KEEP=1 ...                    keeps the repository, to look around in it
#
# Needs bash, git and, without COOK_BIN, Rust. Everything happens below one temporary directory.
# Exits non-zero at the first answer that is not the expected one, and says which.
set -euo pipefail
unset CDPATH
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)"

# shellcheck source=smoke/steps.sh
source "$here/steps.sh"
clean_environment "$here/smoke.sh" "$@"

work="$(mktemp -d)"
work="$(cd -- "$work" && pwd -P)"
finish() {
  local status=$?
  if [[ -n "$KEEP" ]]; then
    printf '\nkept: %s\n' "$work"
  else
    rm -rf -- "$work"
  fi
  exit "$status"
}
trap finish EXIT

clean_room "$work"

title "A whole job"
source "$here/job.sh"
mkdir "$work/tally"
cd -- "$work/tally"
whole_job

title "The seed's flow"
source "$here/seed.sh"
mkdir "$work/empty"
cd -- "$work/empty"
seed_flow

printf '\nsmoke test passed in %s s: every answer was the expected one\n' "$SECONDS"
