#!/usr/bin/env bash
# Runs each runner on a small project with the variables of the hooks and without, and compares what it
# prints, how it ends and what is recorded. The test program beside it calls this.
#
#   hooks.sh DIRECTORY NAME='VALUE'...     HOOK_RUNNERS="pytest jest" runs those alone
#
# DIRECTORY holds the hooks. Exit code 1: something differs; 77: a runner could not be had.
set -uo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
directory=$1
shift
variables=("$@")
tree=$directory/tree tools=$directory/tools records=$directory/records
mkdir -p "$tools"
failed=0 missing=0
export CI=true NO_COLOR=1 npm_config_cache="$directory/npm" PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
unset NODE_OPTIONS PYTHONPATH GOFLAGS RUBYLIB SPEC_OPTS FORCE_COLOR AI_AGENT CLAUDECODE

is_asked() { [[ -z ${HOOK_RUNNERS:-} || " $HOOK_RUNNERS " == *" $1 "* ]]; }

miss() {
  printf '%-24s not here: %s\n' "$1" "$2"
  missing=1
}

# An empty tree, which the caller goes to.
clear_tree() {
  cd "$directory" && rm -rf "$tree" && mkdir -p "$tree" && cd "$tree" || exit 1
}

# compare LABEL COMMAND...: what must be recorded comes in by standard input, `RESULT NAME` a line, with
# `@N` behind the result of a later try, `unloaded FILE`, and `ran N`.
compare() {
  local label=$1 plain hooked
  shift
  cat >"$directory/expected"
  (exec "$@") >"$directory/plain" 2>&1 </dev/null
  plain=$?
  # Both runs find the caches of one that ran before.
  (exec "$@") >"$directory/plain" 2>&1 </dev/null
  plain=$?
  rm -rf "$records" ${REPORT_DIRS:-}
  (
    for variable in "${variables[@]}"; do eval "export $variable"; done
    exec "$@"
  ) >"$directory/hooked" 2>&1 </dev/null
  hooked=$?
  if python3 "$here/hooks_compare.py" "$directory" "$plain" "$hooked" "${IGNORE_CONSOLE:-}"; then
    printf '%-24s right (exit %s, %s records)\n' "$label" "$hooked" "$(grep -c . "$records" 2>/dev/null || echo 0)"
  else
    printf '%-24s WRONG: %s\n' "$label" "$*"
    failed=1
  fi
}

for part in python node others; do
  # shellcheck disable=SC1090
  source "$here/hooks_$part.sh"
done

((failed)) && exit 1
((missing)) && exit 77
exit 0
