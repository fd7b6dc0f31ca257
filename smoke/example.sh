#!/usr/bin/env bash
# Makes `.agent-example/` anew: the smoke job up to the review of its second slice, at fixed moments.
#
#   ./smoke/example.sh [DIRECTORY]     writes there instead of `.agent-example/`
set -euo pipefail
unset CDPATH
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)"
# shellcheck source=smoke/steps.sh
source "$here/steps.sh"
clean_environment "$here/example.sh" "$@"

target="${2:-$here/../.agent-example}"
mkdir -p "$target"
target="$(cd -- "$target" && pwd -P)"
work="$(mktemp -d)"
work="$(cd -- "$work" && pwd -P)"
trap 'rm -rf -- "$work"' EXIT
clean_room "$work"
source "$here/job.sh"
mkdir "$work/tally"
cd -- "$work/tally"

at() {
  export COOK_TEST=1 COOK_NOW="2026-03-02T$1:00Z"
  export GIT_AUTHOR_DATE="$COOK_NOW" GIT_COMMITTER_DATE="$COOK_NOW"
}

at 09:00 && set_up
at 09:10 && plan
at 09:40 && first_attempt
at 10:30 && second_attempt
at 11:00 && accept_first
at 11:45 && build_second
at 12:15 && review_second

rm -rf .agent/tmp "$target"
cp -R .agent "$target"
printf '\nwritten: %s\n' "$target"
