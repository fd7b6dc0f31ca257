#!/usr/bin/env bash
# The steps of the workflow, by a runner's shell: two at once, one killed in the middle of a session.
# shellcheck source=examples/job/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../job/lib.sh"

prepare() {
  command -v curl >/dev/null || skip "curl is not here"
  command -v python3 >/dev/null || skip "Python 3 is not here"
  if ! python3 -c 'import yaml' 2>/dev/null; then
    python3 -m venv "$1/venv" && "$1/venv/bin/pip" install --quiet pyyaml || skip "PyYAML cannot be installed"
  fi
}
begin "$@"

python=python3
[[ -x "$WORK/venv/bin/python" ]] && python="$WORK/venv/bin/python"
cook="$(readlink -f "$WORK/bin/cook")"
export WORK REMOTE="$WORK/remote.git" COOK_URL="file://$cook" COOK_SHA256
COOK_SHA256="$(sha256sum <"$cook" | cut -d' ' -f1)"
runner() { start "$1" env GIT_AUTHOR_NAME="Worker $1" "$python" "$here/runner.py" "$here/cook.yml" "$@"; }

begin_job
# What is not the binary that was meant is not run.
good="$COOK_SHA256" COOK_SHA256="$(printf %064d 0)"
runner forged work
wait_for "a refusal" 60 grep -qs "FAILED" "$WORK/forged.out"
COOK_SHA256="$good"

touch "$STATE/hang-implementer"
runner a work again verify
a=$pid
runner b work again verify
b=$pid
wait_for_hung
case "$where" in
  "$WORK/a/"*) victim=$a other=b ;;
  *) victim=$b other=a ;;
esac
kill -KILL -- "-$victim"
echo "killed one runner in a session of the implementer"
wait_for "the verify job" 240 grep -qs "^verify: ended" "$WORK/$other.out"
grep -E '^(work|again|verify): ' "$WORK/$other.out"
grep -q '^again: not due' "$WORK/$other.out"
grep -q 'reproduced' "$WORK/$other.out"
check_done
