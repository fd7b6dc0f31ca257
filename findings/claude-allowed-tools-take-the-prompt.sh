#!/usr/bin/env bash
# One would guess that `claude -p --allowedTools Bash "PROMPT"` allows one tool and asks the prompt, since the
# help shows options before the prompt. The option takes every word that follows, so the prompt becomes a second
# tool, and the program ends with 1: no prompt was given. With the prompt first, or `--` before it, it is asked.
# A script that runs an agent so and does not look at the exit code believes that it had nothing to say.
# Seen with @anthropic-ai/claude-code 2.1.197 on Linux. The endpoint is a closed port on loopback, so that nothing
# is asked of a model. Exit code 1: it is otherwise now; 77: the program could not be had.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund @anthropic-ai/claude-code@2.1.197 >/dev/null 2>&1 || exit 77
claude=$work/node_modules/.bin/claude
"$claude" --version || exit 77

run() {
  echo "\$ claude -p $*"
  status=0
  env -i PATH="$PATH" HOME="$work" ANTHROPIC_API_KEY=none ANTHROPIC_BASE_URL=http://127.0.0.1:9 \
    timeout 5 "$claude" -p "$@" </dev/null >said 2>&1 || status=$?
  sed 's/^/    /' said
  echo "    exit code $status"
}

lacks_prompt() { grep -q 'Input must be provided' said; }

run --allowedTools Bash 'say hello'
lacks_prompt && [[ "$status" == 1 ]] || exit 1
# It is asked now: the closed port is tried again and again until the time is up.
run 'say hello' --allowedTools Bash
! lacks_prompt && [[ "$status" == 124 ]] || exit 1
run --allowedTools Bash -- 'say hello'
! lacks_prompt && [[ "$status" == 124 ]] || exit 1
